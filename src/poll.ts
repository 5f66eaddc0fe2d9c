/** A function that is called periodically until closed. */
export interface Poll {
  close(): void
}

/** Shorter pauses are not aligned, in milliseconds. */
const leastAlignedMs = 500

/**
 * Calls a function periodically. The next call waits until the promise of the call before has settled. The timer does
 * not keep the process alive. A pause of 500 ms or more ends at a multiple of itself on the clock of the process, so
 * that polls of 750 ms and 1500 ms wake an idle process at the same time, because a wake-up costs more than the call
 * itself. Such a pause lasts between a quarter and five quarters of its length, and exactly its length if the call is
 * short.
 * @param once must neither reject nor throw
 * @param pauseMs also applies before the first call; a function is called before each pause
 */
export const poll = (once: () => unknown, pauseMs: number | (() => number)): Poll => {
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const later = (): void => {
    if (!isClosed)
      timer = setTimeout(go, alignedMs(typeof pauseMs === 'number' ? pauseMs : pauseMs(), performance.now())).unref()
  }
  const go = (): void => {
    const underWay = once()
    if (underWay instanceof Promise) void underWay.then(later)
    else later()
  }
  later()
  return {
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/**
 * The time until the first multiple of the pause that is at least a quarter of the pause away. In milliseconds, rounded
 * up.
 * @param nowMs of a monotonic clock
 */
export const alignedMs = (pauseMs: number, nowMs: number): number =>
  pauseMs < leastAlignedMs ? pauseMs : Math.ceil(Math.ceil((nowMs + pauseMs / 4) / pauseMs) * pauseMs - nowMs)
