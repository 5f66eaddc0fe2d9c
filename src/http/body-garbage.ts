import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Keeps memory flat while bodies pass. What they come in are small objects that hold up to 64 KiB each outside the heap. V8
 * looks at the objects alone when it decides whether to collect young ones, lets 64 MiB gather, and then collects everything,
 * which takes longer. So whoever passes bodies on says how much, and young objects are collected in between.
 */

/** A collection takes about a millisecond; this is how much may gather between two. */
const collectEveryBytes = 16 * 1024 * 1024

let passedBytes = 0
let collect: NodeJS.GCFunction | undefined

/** To be called with each piece of a body that has passed; now and then it collects young objects, at once. */
export const countPassed = (bytes: number): void => {
  passedBytes += bytes
  if (passedBytes < collectEveryBytes) return
  passedBytes = 0
  collect ??= findCollect()
  collect({ type: 'minor' })
}

/** Not by a flag of the process: with it Node cannot use what of itself it has compiled, and starts a fifth slower. */
const findCollect = (): NodeJS.GCFunction => {
  setFlagsFromString('--expose-gc')
  const found: NodeJS.GCFunction = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  return found
}
