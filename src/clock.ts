/** The one source of time. Tests hand in a clock that they advance; everything else uses `systemClock`. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()` gives them: what tokens and records say. An operator or NTP may set it back. */
  nowMs(): number
  /** Milliseconds of a clock that is never set back: for ages and waits inside one process. */
  monotonicMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
