import { minorGc } from '../minor-gc.ts'

/**
 * Limits the memory that buffers of bodies take. Each buffer is a small object with up to 64 KiB outside the heap. V8
 * decides by the size of the objects alone whether to run a minor GC. It lets 64 MiB accumulate and then runs a major
 * GC, which takes longer. So code that forwards bodies reports their bytes, and minor GCs run in between.
 */

/** Bytes between two minor GCs. */
const collectEveryBytes = 16 * 1024 * 1024

let forwardedBytes = 0

/** Must be called with each piece of a body that is forwarded. Now and then it runs a minor GC synchronously. */
export const recordBodyBytes = (bytes: number): void => {
  forwardedBytes += bytes
  if (forwardedBytes < collectEveryBytes) return
  forwardedBytes = 0
  minorGc()
}
