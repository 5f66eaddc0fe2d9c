/**
 * Enforces plan limits over all processes that share it. Never throws: if the store fails, the result is a Verdict too.
 */
export interface Limiter {
  /** Decides and counts one request. At most one store round trip; the Verdict is synchronous if none is needed. */
  charge(charge: Charge): Verdict | Promise<Verdict>
  close(): Promise<void>
}

/** A request to be counted: it takes one place under each rule, or none under any. */
export interface Charge {
  /** Identifies the counters: the plan and the caller. Not empty. Never shown to clients. */
  readonly key: string
  /** Whether one client can have any number of such keys. A process keeps only a limited number of these. */
  readonly byAddress?: true
  /** At least one. Charges with the same rules must pass the same array, because state is looked up by its identity. */
  readonly rules: readonly Rule[]
  /** How to decide while the store does not answer. */
  readonly whenStoreFails: 'local' | 'open' | 'closed'
}

/** One limit of a charge, with a counter of its own. */
export interface Rule {
  /** Identifies the counter among those of the charge's key. */
  readonly counter: string
  readonly algorithm: Algorithm
  /** At least 1. */
  readonly limit: number
  readonly windowMs: number
  /** How many requests `smooth` admits at once, at least 1. The other algorithms ignore it. */
  readonly burst: number
  /** `soft`: counted and reported, but never a reason to refuse. */
  readonly mode: 'hard' | 'soft'
}

/**
 * How a counter counts. `strict`: never more than `limit` in any sliding window. `smooth`: `limit` per window on
 * average and `burst` at once (GCRA), at most `limit + burst - 1` in a window. `calendar`: `limit` per window; windows
 * begin for all callers at whole multiples of their length since 1970, UTC.
 */
export type Algorithm = 'strict' | 'smooth' | 'calendar'

export interface Verdict {
  /** Whether every hard rule had room. If not, no rule has counted the request. */
  readonly allowed: boolean
  /** Allowed although a soft rule had no room; then no soft rule has counted it. */
  readonly shadowDenied: boolean
  /** The state of each rule of the charge, in its order. */
  readonly rules: readonly RuleState[]
  /**
   * A request sent after this many milliseconds is admitted if no other comes first. 0: every hard rule has room now.
   */
  readonly waitMs: number
  /**
   * How it was decided: by the shared count, by this process's share of it, or by the plan's setting for a failed
   * store.
   */
  readonly source: 'store' | 'local' | 'open' | 'closed'
}

/** The state of one counter after a decision. */
export interface RuleState {
  /** How many more requests it would admit now. */
  readonly remaining: number
  /**
   * Milliseconds, to the microsecond. With nothing remaining: until it admits one request. Otherwise until the counter
   * is empty, or the window.
   */
  readonly waitMs: number
}
