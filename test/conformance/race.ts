import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ClientRecord } from '../../src/stores/ports/clients.ts'
import type { Redemption, RefreshAttempt } from '../../src/stores/ports/grants.ts'
import type { InteractionRecord } from '../../src/stores/ports/interactions.ts'
import type { KeyRecord } from '../../src/stores/ports/keys.ts'
import type { Store } from '../../src/stores/ports/store.ts'

/** A call that a process of its own makes on the store. */
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

/** Makes the calls of each list in a process of its own, all processes at the same moment. Resolves to all outcomes. */
export type Race = (lists: readonly (readonly RacedCall[])[]) => Promise<readonly unknown[]>

/** Starts processes that have the store open; they run one race after the other, and end with the test. */
export const startRacers = async (t: Teardown, url: string, count: number): Promise<Race> => {
  const racers = Array.from({ length: count }, () => fork(join(import.meta.dirname, 'racer.ts'), [url]))
  t.teardown(() => {
    for (const racer of racers) racer.kill('SIGKILL')
  })
  await Promise.all(racers.map(message))
  return async lists => {
    const outcomes = racers.slice(0, lists.length).map(message)
    for (const [index, list] of lists.entries()) racers[index]?.send(list)
    return (await Promise.all(outcomes)).flat()
  }
}

/** The next message of the process. Rejects when it exits without one. */
const message = async (racer: ChildProcess): Promise<unknown> => {
  const settled = new AbortController()
  const exited = once(racer, 'exit', { signal: settled.signal }).then(([code]) => {
    throw new Error(`a racer exited with ${code} before it answered`)
  })
  try {
    const [answer] = await Promise.race([once(racer, 'message', { signal: settled.signal }), exited])
    return answer
  } finally {
    exited.catch(() => undefined)
    settled.abort()
  }
}
