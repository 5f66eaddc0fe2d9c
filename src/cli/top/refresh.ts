import { setTimeout as sleep } from 'node:timers/promises'
import { type Scrape, scrape } from './scrape.ts'
import { type Snapshot, toSnapshot } from './snapshot.ts'

/** What is known after a scrape. */
export interface Watched {
  /** The last one that there was; undefined before there are two scrapes to compare. */
  readonly view: Snapshot | undefined
  /** Why the admin port said nothing this time. */
  readonly trouble: string | undefined
}

/** Scrapes the admin port until `signal` ends it, whatever it answers, and says after each time what is known. */
export async function* watch(admin: string, everyMs: number, signal: AbortSignal): AsyncGenerator<Watched> {
  let before: Scrape | undefined
  let view: Snapshot | undefined
  while (!signal.aborted) {
    const dueAtMs = performance.now() + everyMs
    const now = await scrape(admin, signal).catch((error: Error) => error)
    if (signal.aborted) return
    const isGood = !(now instanceof Error)
    if (isGood && before) view = toSnapshot(before, now)
    // Over a gap nothing is measured: the program may have been started anew in it.
    before = isGood ? now : undefined
    yield { view, trouble: isGood ? undefined : now.message }
    await sleep(Math.max(0, dueAtMs - performance.now()), undefined, { signal }).catch(() => undefined)
  }
}
