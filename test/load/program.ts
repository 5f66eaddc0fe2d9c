import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The measured program has a core for itself; the load generator and the services behind it share the other. If a run
 * measures limits and not speed, all share both.
 */
export const cores = { measured: '0', load: '1', all: '0,1' } as const
export type Core = (typeof cores)[keyof typeof cores]

export interface Start {
  /** Goes into messages. */
  readonly name: string
  readonly core: Core
  readonly command: readonly [string, ...string[]]
  readonly env?: Readonly<Record<string, string>>
  /** Called again and again until it resolves to true. */
  readonly readyWhen: () => Promise<boolean>
}

/** Something that serves, and its first process: what that has started belongs to it. */
export interface Served {
  readonly origin: string
  readonly pid: number
}

const startTimeoutMs = 20_000
/** Between two questions whether it serves; how long a start takes is known as exactly. */
const pollMs = 10
const stopTimeoutMs = 10_000

/** Programs of one run, each pinned to a core. Closing it ends them all; `await using` does so on every way out. */
export class Programs implements AsyncDisposable {
  readonly #children: ChildProcess[] = []

  /** Resolves to its process id once the program serves. Throws when it ends before, or takes longer than 20 s. */
  async start({ name, core, command, env, readyWhen }: Start): Promise<number> {
    const child = spawn('taskset', ['-c', core, ...command], {
      // Sidegate's access log goes where a log that is not kept goes: written, but to no disk.
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, NODE_ENV: 'production', ...env },
    })
    this.#children.push(child)
    const giveUpAt = Date.now() + startTimeoutMs
    while (!(await readyWhen())) {
      if (hasEnded(child)) throw new Error(`${name} ended before it served: ${command.join(' ')}`)
      if (Date.now() > giveUpAt) throw new Error(`${name} did not serve within ${startTimeoutMs / 1000} s`)
      await sleep(pollMs)
    }
    return child.pid ?? 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#children.map(stop))
  }
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

const stop = async (child: ChildProcess): Promise<void> => {
  if (hasEnded(child)) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
  await ended
  clearTimeout(killer)
}

/** Whether the address answers with 2xx. */
export const answers = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}
