/**
 * Counts the poll phases of the event loop (libuv). Data that the kernel has when a socket is read is read in that poll
 * phase or in the next one. After a call of `markPoll` the next poll phase does not wait for events, because an
 * immediate is pending. So no time passes between the two phases.
 */
let count = 0
let askedAt = Number.NEGATIVE_INFINITY
let isCounting = false

const countOne = (): void => {
  count++
  isCounting = count - askedAt <= 1
  if (isCounting) setImmediate(countOne)
}

/** The number of the poll phase that runs now. */
export const markPoll = (): number => {
  askedAt = count
  if (!isCounting) {
    isCounting = true
    setImmediate(countOne)
  }
  return count
}

/** Whether at most one other poll phase has begun since that mark. */
export const isSameBurst = (mark: number): boolean => count - mark <= 1
