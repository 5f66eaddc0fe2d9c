import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import { findFreePort } from './free-port.ts'

export interface StartedDemo {
  readonly child: ChildProcess
  /** The text that the command printed for a person. */
  readonly greeting: string
  /** Origin of the admin listener. */
  readonly admin: string
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/**
 * Runs `sidegate start` in a folder of its own and on free ports, and stops it when the test ends.
 * @param command the program, with its first arguments
 * @param last its last arguments
 */
export const startDemo = async (
  t: Teardown,
  command: readonly string[],
  last: readonly string[] = ['start'],
): Promise<StartedDemo> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-start-'))
  const [port, adminPort, upstreamPort] = [await findFreePort(), await findFreePort(), await findFreePort()]
  const { SIDEGATE_CONFIG: _, ...env } = process.env
  const [program = '', ...args] = command
  const child = spawn(program, [...args, ...last], {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...env,
      SIDEGATE_ISSUER: `http://127.0.0.1:${port}`,
      SIDEGATE_LISTEN: `127.0.0.1:${port}`,
      SIDEGATE_ADMIN: `127.0.0.1:${adminPort}`,
      SIDEGATE_UPSTREAM: `http://127.0.0.1:${upstreamPort}`,
    },
  })
  const exited = new Promise(resolve => child.once('exit', resolve))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
    rmSync(dir, { recursive: true, force: true })
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    output += text
  })
  await eventually(() => output.includes('client_secret='))
  const greeting = output.slice(output.indexOf('\n  Sidegate is serving.'))
  return { child, greeting, admin: `http://127.0.0.1:${adminPort}` }
}

/** The lines of a greeting that are there to be pasted. */
export const linesToPaste = (greeting: string): readonly string[] =>
  greeting
    .split('\n')
    .map(line => line.trim())
    .filter(line => line.includes('curl '))
