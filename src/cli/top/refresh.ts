import { setTimeout as sleep } from 'node:timers/promises'
import { type Scrape, scrape } from './scrape.ts'
import { type Snapshot, toSnapshot } from './snapshot.ts'

/** The state after a scrape. */
export interface Watched {
  /** The last snapshot; undefined before there are two scrapes to compare. */
  readonly view: Snapshot | undefined
  /** Why the last scrape failed. */
  readonly trouble: string | undefined
}

/** Scrapes the admin port until `signal` is aborted, also after failures, and reports the state after each scrape. */
export async function* watch(admin: string, everyMs: number, signal: AbortSignal): AsyncGenerator<Watched> {
  let before: Scrape | undefined
  let view: Snapshot | undefined
  while (!signal.aborted) {
    const dueAtMs = performance.now() + everyMs
    const now = await scrape(admin, signal).catch((error: Error) => error)
    if (signal.aborted) return
    const isGood = !(now instanceof Error)
    if (isGood && before) view = toSnapshot(before, now)
    // No snapshot spans a failed scrape, because the program may have been restarted meanwhile.
    before = isGood ? now : undefined
    yield { view, trouble: isGood ? undefined : now.message }
    await sleep(Math.max(0, dueAtMs - performance.now()), undefined, { signal }).catch(() => undefined)
  }
}
