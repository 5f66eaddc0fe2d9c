/**
 * Counts the poll phases of the event loop (libuv), for those who ask within two of them: what was read in one poll phase, and what the
 * kernel had by then, is read in that one or the next. While somebody has asked lately, a phase does not wait for events, so that time
 * does not pass between the two.
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

/** Whether no more than one other poll phase has begun since that mark. */
export const isSameBurst = (mark: number): boolean => count - mark <= 1
