/** Pure functions over traces of admissions: they compare the admissions of a limiter with its promise. */

/** Most admissions in any `(t - window, t]`. @param stamps when each was decided, in order and in the window's unit */
export const mostInAnyWindow = (stamps: readonly number[], window: number): number => {
  let most = 0
  let first = 0
  for (const [index, stamp] of stamps.entries()) {
    while ((stamps[first] ?? stamp) + window <= stamp) first++
    most = Math.max(most, index - first + 1)
  }
  return most
}

/**
 * The maximum by which the admissions in any interval exceed the rate over it: the bucket must be that large.
 * @param stamps when each was decided, in order @param rate admissions per unit of the stamps
 */
export const excessOver = (stamps: readonly number[], rate: number): number => {
  let least = Number.POSITIVE_INFINITY
  let most = 0
  for (const [index, stamp] of stamps.entries()) {
    least = Math.min(least, index - rate * stamp)
    most = Math.max(most, index + 1 - rate * stamp - least)
  }
  return most
}

/** An admission seen from outside: the limiter decided it at some time between the request and the response. */
export interface SeenAdmission {
  readonly sentAtMs: number
  readonly answeredAtMs: number
}

/** Most admissions that were certainly in one window: both their start and their end are in it. */
export const mostCertainInAnyWindow = (admissions: readonly SeenAdmission[], windowMs: number): number => {
  const bySending = admissions.toSorted((a, b) => a.sentAtMs - b.sentAtMs)
  let most = 0
  for (const [index, { sentAtMs }] of bySending.entries()) {
    let inside = 0
    for (const later of bySending.slice(index)) {
      if (later.sentAtMs >= sentAtMs + windowMs) break
      if (later.answeredAtMs < sentAtMs + windowMs) inside++
    }
    most = Math.max(most, inside)
  }
  return most
}

/** Most admissions that were certainly in one calendar window, which starts at a multiple of its length. */
export const mostCertainInCalendarWindow = (admissions: readonly SeenAdmission[], windowMs: number): number => {
  const counts = new Map<number, number>()
  for (const { sentAtMs, answeredAtMs } of admissions) {
    const turn = Math.floor(sentAtMs / windowMs)
    // Two clocks of one machine may differ by some milliseconds.
    const isCertain = sentAtMs % windowMs > 5 && Math.floor((answeredAtMs + 5) / windowMs) === turn
    if (isCertain) counts.set(turn, (counts.get(turn) ?? 0) + 1)
  }
  return Math.max(0, ...counts.values())
}
