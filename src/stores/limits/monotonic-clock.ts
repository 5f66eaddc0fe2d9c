/** Milliseconds since 1970, UTC, with fractions. Unlike the time of day it never goes back. */
export interface MonotonicClock {
  nowMs(): number
}

export const monotonicClock: MonotonicClock = { nowMs: () => performance.timeOrigin + performance.now() }
