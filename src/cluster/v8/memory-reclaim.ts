import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { minorGc } from '../../minor-gc.ts'

/** The connections of one kind of listener. */
export interface ConnectionCounter {
  /** The number of open connections, and the highest number since the last call. */
  count(): { readonly now: number; readonly most: number }
  /** Calls back once, when the next connection is accepted. A second call replaces the first. */
  onNextConnection(callback: () => void): void
}

/** The process must hold this much more than its minimum before a collection is worth its milliseconds. */
const muchBytes = 16 * 1024 * 1024

const checkEveryMs = 1000

/** Time for V8 to mark and sweep the old generation beside the requests, ten times as long as V8 needs. */
const collectionMs = 1000

/** After this time idle connections to upstreams have been closed too. */
const afterwardsMs = 10_000

/**
 * Gives memory back to the system whenever most connections have been closed. V8 starts a major GC only when the old
 * generation grows, which stops once the attack is over.
 */
export const reclaimMemory = async (all: readonly ConnectionCounter[]): Promise<never> => {
  let leastBytes = heldBytes()
  let most = 0
  let before = 0
  for (;;) {
    await pause(checkEveryMs)
    const held = heldBytes()
    leastBytes = Math.min(leastBytes, held)
    const counts = all.map(connections => connections.count())
    const now = sum(counts.map(count => count.now))
    most = Math.max(most, sum(counts.map(count => count.most)))
    const isCalm = Math.abs(now - before) <= 10 + before / 10
    before = now
    if (now === 0 && isCalm && held <= leastBytes + muchBytes) await nextConnection(all)
    if (!isCalm || now > most / 2 || held <= leastBytes + muchBytes) continue
    most = now
    await collectOld()
    await pause(afterwardsMs)
    await collectOld()
    // The rest is in use, so it must not trigger another collection.
    leastBytes = heldBytes()
  }
}

/** A process without connections checks nothing until the next one. */
const nextConnection = (all: readonly ConnectionCounter[]): Promise<void> =>
  new Promise(resolve => {
    for (const connections of all) connections.onNextConnection(resolve)
  })

/** Infinity if the system does not tell: without /proc, or if connections have taken all file descriptors. */
const heldBytes = (): number => {
  try {
    return process.memoryUsage.rss()
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** The timer does not keep the process alive. */
const pause = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false })

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/**
 * Makes V8 begin to mark as if it had reached its limit at a hundredth of the memory that it may take. It marks in
 * slices of half a millisecond between requests; its `gc` function would stop the process for 13 milliseconds after ten
 * thousand connections.
 */
const collectOld = async (): Promise<void> => {
  setFlagsFromString('--incremental-marking-soft-trigger=1')
  // V8 checks the trigger after each minor collection, and an idle process may run none for a long time.
  minorGc()
  await pause(collectionMs)
  setFlagsFromString('--incremental-marking-soft-trigger=0')
}
