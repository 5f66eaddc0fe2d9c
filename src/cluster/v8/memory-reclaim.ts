import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { minorGc } from '../../minor-gc.ts'

/** The connections of one kind of listener. */
export interface ConnectionCounter {
  /** How many are open, and the most that were open at a time since the last call. */
  count(): { readonly now: number; readonly most: number }
  /** Calls back once, when another connection is accepted. A second call replaces the first. */
  onNextConnection(callback: () => void): void
}

/** How much must have been added before it is worth the milliseconds of giving it back. */
const muchBytes = 16 * 1024 * 1024

const lookEveryMs = 1000

/** How long V8 has to mark and sweep what is old, beside the requests. It takes a tenth of this. */
const collectionMs = 1000

/** By then connections to upstreams that nobody needs any more have ended too. */
const afterwardsMs = 10_000

/**
 * Gives memory back to the system whenever most connections have gone. V8 looks for dead old objects when their number has grown, and
 * it does not grow when an attack is over; and the C library keeps what was freed, a hundred MiB of ten thousand connections.
 */
export const reclaimMemory = async (all: readonly ConnectionCounter[]): Promise<never> => {
  let leastBytes = heldBytes()
  let most = 0
  let before = 0
  for (;;) {
    await pause(lookEveryMs)
    const held = heldBytes()
    leastBytes = Math.min(leastBytes, held)
    const counts = all.map(sockets => sockets.count())
    const now = sum(counts.map(count => count.now))
    most = Math.max(most, sum(counts.map(count => count.most)))
    const isCalm = Math.abs(now - before) <= 10 + before / 10
    before = now
    if (now === 0 && isCalm && held <= leastBytes + muchBytes) await nextConnection(all)
    if (!isCalm || now > most / 2 || held <= leastBytes + muchBytes) continue
    most = now
    await giveBack()
    await pause(afterwardsMs)
    await giveBack()
    // What is left is in use, and no reason to try again.
    leastBytes = heldBytes()
  }
}

/** A process without connections looks at nothing. */
const nextConnection = (all: readonly ConnectionCounter[]): Promise<void> =>
  new Promise(resolve => {
    for (const sockets of all) sockets.onNextConnection(resolve)
  })

const giveBack = async (): Promise<void> => {
  await collectOld()
  trimHeap()
}

/** Infinite where it cannot be read: without /proc, or without a file that could be opened, as where connections have taken all. */
const heldBytes = (): number => {
  try {
    return process.memoryUsage.rss()
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** It keeps no process alive. */
const pause = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false })

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/**
 * Has V8 begin to mark as if a hundredth of the memory that it may take were reason enough: in slices of half a millisecond
 * between requests. A collection by its `gc` function is one stop, of 13 milliseconds after ten thousand connections.
 */
const collectOld = async (): Promise<void> => {
  setFlagsFromString('--incremental-marking-soft-trigger=1')
  // V8 looks at the trigger after each collection of young objects, and a process without work may have none for long.
  minorGc()
  await pause(collectionMs)
  setFlagsFromString('--incremental-marking-soft-trigger=0')
}

/** Four milliseconds after ten thousand connections. Nothing where Node has no `node:ffi`, or the C library is not glibc. */
const trimHeap = (): void => {
  mallocTrim ??= findMallocTrim()
  mallocTrim(0n)
}

let mallocTrim: ((padBytes: bigint) => unknown) | undefined

const findMallocTrim = (): ((padBytes: bigint) => unknown) => {
  try {
    const signature = { return: 'i32', arguments: ['u64'] } as const
    const found = process.getBuiltinModule('node:ffi')?.dlopen(null, { malloc_trim: signature })
    return found?.functions.malloc_trim ?? (() => undefined)
  } catch {
    return () => undefined
  }
}
