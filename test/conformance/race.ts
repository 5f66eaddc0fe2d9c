import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientRecord } from '../../src/stores/ports/clients.ts'
import type { Redemption, RefreshAttempt } from '../../src/stores/ports/grants.ts'
import type { InteractionRecord } from '../../src/stores/ports/interactions.ts'
import type { KeyRecord } from '../../src/stores/ports/keys.ts'
import type { Store } from '../../src/stores/ports/store.ts'
import { eventually } from '../support/eventually.ts'

/** A call that a separate process makes on the store. */
export type RacedCall =
  | { readonly kind: 'redeem'; readonly redemption: Redemption }
  | { readonly kind: 'refresh'; readonly attempt: RefreshAttempt }
  | { readonly kind: 'createKey'; readonly record: KeyRecord; readonly after?: string; readonly untilMs: number }
  | { readonly kind: 'spend'; readonly id: string; readonly untilMs: number }
  | { readonly kind: 'complete'; readonly id: string; readonly interactionId: string; readonly untilMs: number }
  | { readonly kind: 'putClient'; readonly id: string; readonly record: ClientRecord }
  | { readonly kind: 'replace'; readonly id: string; readonly version: number; readonly record: InteractionRecord }

export const makeCall = (store: Store, call: RacedCall): Promise<unknown> => {
  switch (call.kind) {
    case 'redeem':
      return store.grants.redeem(call.redemption)
    case 'refresh':
      return store.grants.refresh(call.attempt)
    case 'createKey':
      return store.keys.create(call.record, call.after, call.untilMs)
    case 'spend':
      return store.replays.spend([{ id: call.id, untilMs: call.untilMs }]).then(([isNew]) => isNew)
    case 'complete':
      return store.pushed.complete(call.id, call.interactionId, call.untilMs)
    case 'putClient':
      return store.clients.put(call.id, call.record, undefined)
    case 'replace':
      return store.interactions.replace(call.id, call.version, call.record)
  }
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** Makes the calls of each list in a separate process, all processes at the same moment. Resolves to all outcomes. */
export type Race = (lists: readonly (readonly RacedCall[])[]) => Promise<readonly unknown[]>

/** A message of a racer: its calls begin now, all calls have outcomes, or a call failed. */
export type RacerMessage =
  | { readonly kind: 'ready' | 'begun' }
  | { readonly kind: 'done'; readonly outcomes: readonly unknown[] }
  | { readonly kind: 'failed'; readonly reason: string }

/** The longest that writes wait for all racers to block. It is well below the second that SQLite waits for a lock. */
const longestHoldMs = 300

/**
 * Starts processes that have the store open; they run one race after the other, and end with the test.
 * @param holdWrites makes all writes wait until the returned function is called. With it the processes
 * meet: when the first process writes, each one has come as far in its first call as it can without writing.
 */
export const startRacers = async (
  t: Teardown,
  url: string,
  count: number,
  holdWrites?: () => () => void,
): Promise<Race> => {
  const racers = Array.from({ length: count }, () =>
    fork(join(import.meta.dirname, 'racer.ts'), [url], { execArgv: [] }),
  )
  t.teardown(() => {
    for (const racer of racers) racer.kill('SIGKILL')
  })
  await Promise.all(racers.map(racer => nextMessage(racer, 'ready')))
  return async lists => {
    const running = racers.slice(0, lists.length)
    const begun = running.map(racer => nextMessage(racer, 'begun'))
    const done = running.map(racer => nextMessage(racer, 'done'))
    const allSettled = Promise.allSettled([...begun, ...done])
    const release = holdWrites?.()
    for (const [index, list] of lists.entries()) racers[index]?.send(list)
    if (release) await haveBlocked(running, begun).finally(release)
    await allSettled
    return (await Promise.all(done)).flatMap(message => (message.kind === 'done' ? message.outcomes : []))
  }
}

/**
 * Resolves once the calls of all processes have begun and each process sleeps, because it waits for the lock, and after
 * `longestHoldMs` at the latest: a process that the machine starves until then races without having met the others.
 */
const haveBlocked = async (racers: readonly ChildProcess[], begun: readonly Promise<unknown>[]): Promise<void> => {
  let haveBegun = false
  void Promise.allSettled(begun).then(() => {
    haveBegun = true
  })
  const areBlocked = (): boolean => haveBegun && racers.every(({ pid }) => isAsleep(pid))
  await eventually(areBlocked, longestHoldMs).catch(() => undefined)
}

/** Whether the main thread of a process waits in the kernel: `S` in its `/proc/PID/stat` (`man 5 proc`). */
const isAsleep = (pid: number | undefined): boolean => {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('S')
}

/** The next message of this kind. Rejects when a call of the process fails, or when the process exits. */
const nextMessage = (racer: ChildProcess, kind: RacerMessage['kind']): Promise<RacerMessage> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`a racer exited with ${code} before it answered`))
    const onMessage = (message: RacerMessage): void => {
      if (message.kind !== kind && message.kind !== 'failed') return
      racer.off('message', onMessage)
      racer.off('exit', onExit)
      if (message.kind === 'failed') reject(new Error(`a call of a racer failed: ${message.reason}`))
      else resolve(message)
    }
    racer.on('message', onMessage)
    racer.once('exit', onExit)
  })
