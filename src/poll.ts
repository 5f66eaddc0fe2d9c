/** Something that is done again and again, until it is closed. */
export interface Poll {
  close(): void
}

/**
 * Does something again and again, one at a time, each so long after the end of the one before. It keeps no process alive.
 * @param once where it is a promise, its end is waited for. Must not reject, nor throw
 * @param pauseMs until the first time as well; asked anew for each, where it is a function
 */
export const poll = (once: () => unknown, pauseMs: number | (() => number)): Poll => {
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const later = (): void => {
    if (!isClosed) timer = setTimeout(go, typeof pauseMs === 'number' ? pauseMs : pauseMs()).unref()
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
