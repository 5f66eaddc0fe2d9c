import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const root = join(import.meta.dirname, '../..')
export const launcher = join(root, 'src/sidegate.cjs')
export const demoConfig = join(root, 'config/sidegate.yaml')

/** The exit code and the output of a command. */
export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** The command's standard input. Default empty. */
  readonly input?: string
  readonly env?: NodeJS.ProcessEnv
  /** The Node binary that runs the command. Default the one of this process. */
  readonly node?: string
}

/** Runs `sidegate` in its own process and resolves when it has exited. */
export const sidegate = async (args: readonly string[], options: RunOptions = {}): Promise<Outcome> => {
  const { SIDEGATE_CONFIG: _, ...ownEnv } = process.env
  const child = spawn(options.node ?? process.execPath, [launcher, ...args], { env: { ...ownEnv, ...options.env } })
  child.stdin.end(options.input ?? '')
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, stdout, stderr }
}

/** How many lines a text has; each ends with a newline. */
export const countLines = (output: string): number => output.split('\n').length - 1
