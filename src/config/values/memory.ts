import { totalmem } from 'node:os'

/** How many bytes of memory this process may use: those of the machine, but no more than the limit of its container. */
export const usableMemoryBytes = (): number => {
  const limit = process.constrainedMemory()
  // 0: there is no limit, or it is not known.
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
