import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { stringify } from 'yaml'

const root = join(import.meta.dirname, '../..')

/** A running gateway: the real program in processes of its own, on free ports of 127.0.0.1. */
export interface RunningSidegate {
  /** Origin of the traffic listener, e.g. `http://127.0.0.1:41234`. */
  readonly url: string
  /** Origin of the admin listener. */
  readonly admin: string
  readonly pid: number
  readonly dir: string
  /** Every line it printed so far, on either stream. */
  readonly output: readonly string[]
  /** Process ids of the workers that are up now. */
  workerPids(): number[]
  kill(signal: NodeJS.Signals): void
  /** Resolves to the exit code (or signal name) when the primary has exited. */
  readonly exited: Promise<number | string>
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** The configuration a test hands in: any part of the YAML as data; `listen` and `admin` are set here. */
export type TestConfig = Readonly<Record<string, unknown>>

/**
 * Writes the configuration to a folder of its own, runs `sidegate serve` on it, and stops it when the test ends.
 * @param env beside this process's own
 * @param sandbox a program that starts what it is given, with arguments of its own
 */
export const startSidegate = async (
  t: Teardown,
  config: TestConfig,
  env: NodeJS.ProcessEnv = {},
  sandbox: readonly string[] = [],
): Promise<RunningSidegate> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-test-'))
  const file = join(dir, 'sidegate.yaml')
  const whole = { listen: '127.0.0.1:0', admin: '127.0.0.1:0', store: `sqlite:${dir}/sidegate.db`, ...config }
  writeFileSync(file, stringify(whole))
  const [program, ...args] = [...sandbox, process.execPath, join(root, 'src/sidegate.cjs'), 'serve', '--config', file]
  const child = spawn(program, args, {
    cwd: dir,
    env: { ...process.env, NODE_ENV: 'test', LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = new Promise<number | string>(resolve =>
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown')),
  )
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
    rmSync(dir, { recursive: true, force: true })
  })
  const output: string[] = []
  const workers = new Set<number>()
  const ready = await waitForReady(child, output, workers)
  return {
    ...ready,
    pid: child.pid ?? 0,
    dir,
    output,
    workerPids: () => [...workers].filter(isAlive),
    kill: signal => void child.kill(signal),
    exited,
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The `ready` log line names both listeners; each `worker ready` line names a process. */
const waitForReady = (
  child: ChildProcess,
  output: string[],
  workers: Set<number>,
): Promise<{ url: string; admin: string }> =>
  new Promise((resolve, reject) => {
    const onLine = (line: string): void => {
      output.push(line)
      if (!line.startsWith('{')) return
      const entry = JSON.parse(line) as { event?: string; listen?: string; admin?: string; worker_pid?: number }
      if (entry.event === 'worker_ready' && entry.worker_pid !== undefined) workers.add(entry.worker_pid)
      if (entry.event === 'ready' && entry.listen && entry.admin) resolve({ url: entry.listen, admin: entry.admin })
    }
    for (const stream of [child.stdout, child.stderr]) if (stream) createInterface(stream).on('line', onLine)
    child.once('exit', code =>
      reject(new Error(`sidegate exited with ${code} before it was ready:\n${output.join('\n')}`)),
    )
  })
