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
