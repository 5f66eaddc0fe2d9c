import { minorGc } from '../minor-gc.ts'

/**
 * Keeps memory flat while bodies pass. What they come in are small objects that hold up to 64 KiB each outside the heap. V8
 * looks at the objects alone when it decides whether to collect young ones, lets 64 MiB gather, and then collects everything,
 * which takes longer. So whoever passes bodies on says how much, and young objects are collected in between.
 */

/** How much may gather between two collections. */
const collectEveryBytes = 16 * 1024 * 1024

let passedBytes = 0

/** To be called with each piece of a body that has passed; now and then it collects young objects, at once. */
export const recordBodyBytes = (bytes: number): void => {
  passedBytes += bytes
  if (passedBytes < collectEveryBytes) return
  passedBytes = 0
  minorGc()
}
