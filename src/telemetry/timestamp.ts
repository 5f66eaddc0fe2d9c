import { type Clock, systemClock } from '../clock.ts'

/** The current time as ISO 8601 in UTC with milliseconds; formatted once a millisecond, not once a line. */
export const createTimestamp = (clock: Pick<Clock, 'nowMs'> = systemClock): (() => string) => {
  let atMs = Number.NaN
  let text = ''
  return () => {
    const nowMs = clock.nowMs()
    if (nowMs !== atMs) {
      atMs = nowMs
      text = new Date(nowMs).toISOString()
    }
    return text
  }
}
