/** The only source of time. Tests pass a clock that they advance; everything else uses `systemClock`. */
export interface Clock {
  /**
   * Milliseconds since 1970, like `Date.now()`: for the times in tokens and records. An operator or NTP may set this
   * clock back.
   */
  nowMs(): number
  /** Milliseconds of a monotonic clock, for ages and waits within one process. */
  monotonicMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }

/** Milliseconds since 1970, UTC, with fractions. Unlike the time of day this clock is never set back. */
export interface MonotonicClock {
  nowMs(): number
}

export const monotonicClock: MonotonicClock = { nowMs: () => performance.timeOrigin + performance.now() }
