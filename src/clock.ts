/** The one source of time. Tests hand in a clock that they advance; everything else uses `systemClock`. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()` gives them. */
  nowMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now() }
