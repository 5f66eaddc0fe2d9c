/** Some thirty microseconds each: of up to a thousand, nobody's request waits for longer than for one or two others. */
const atATime = 2

/** Between two times, in milliseconds: so that most requests come while none ends. */
const pauseMs = 1

/** Of many more so large a part at a time: however many there are, half of them have ended after a third of a second. */
const part = 1 / 512

/** Ends a connection, or does nothing where it need not end any more. Returns whether it did. */
export type End = () => boolean

/** The first one ends first. */
const waiting: End[] = []

/**
 * Ends a connection soon, a few at a time. Those that came together are late together: ten thousand at once would hold up everything
 * else for a third of a second.
 */
export const takeTurn = (end: End): void => {
  if (waiting.push(end) === 1) setTimeout(endSome, pauseMs)
}

const endSome = (): void => {
  const most = Math.max(atATime, waiting.length * part)
  for (let ended = 0; ended < most; ) {
    const end = waiting.shift()
    if (end === undefined) return
    if (end()) ended++
  }
  if (waiting.length > 0) setTimeout(endSome, pauseMs)
}
