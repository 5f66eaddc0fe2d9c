/** Keeps plan limits over every process that shares it. Never throws: a failed store is a Verdict too. */
export interface Limiter {
  /** Decides and counts one request. At most one store round trip; a synchronous Verdict where none is needed. */
  charge(charge: Charge): Verdict | Promise<Verdict>
  close(): Promise<void>
}

/** What one request costs: a place under each rule, or none under any. */
export interface Charge {
  /** Names whose counters they are: the plan and the caller. Not empty. Never shown to anybody. */
  readonly key: string
  /** Whether anybody can have as many such keys as they like: of these no more than so many are remembered in a process. */
  readonly byAddress?: true
  /** At least one. Whoever charges by the same rules hands over the same array: what is remembered goes by it. */
  readonly rules: readonly Rule[]
  /** What holds while the store does not answer. */
  readonly whenStoreFails: 'local' | 'open' | 'closed'
}

/** One limit of a charge, with a counter of its own. */
export interface Rule {
  /** Names the counter among those of the charge's key. */
  readonly counter: string
  readonly algorithm: Algorithm
  /** At least 1. */
  readonly limit: number
  readonly windowMs: number
  /** How many `smooth` lets in at once, at least 1; the others do not look at it. */
  readonly burst: number
  /** `soft`: counted, and said, and never a reason to refuse. */
  readonly mode: 'hard' | 'soft'
}

/**
 * How a counter counts. `strict`: never more than `limit` in any sliding window. `smooth`: `limit` per window in the long
 * run and `burst` at once (GCRA), at most `limit + burst - 1` in a window. `calendar`: `limit` between two turns of the
 * window, which are the same for everybody: whole multiples of its length since 1970, UTC.
 */
export type Algorithm = 'strict' | 'smooth' | 'calendar'

export interface Verdict {
  /** Whether every hard rule had room. If not, no rule has counted the request. */
  readonly allowed: boolean
  /** Allowed, though a soft rule had no room; then no soft rule has counted it. */
  readonly shadowDenied: boolean
  /** Of each rule of the charge, in its order. */
  readonly rules: readonly RuleState[]
  /** A request sent after this many milliseconds gets in, if no other came first. 0: every hard rule has room now. */
  readonly waitMs: number
  /** Who decided: the shared count, this process's share of it, or the plan's answer for a failed store. */
  readonly source: 'store' | 'local' | 'open' | 'closed'
}

/** Where one counter stands after a decision. */
export interface RuleState {
  /** How many more it would let in now. */
  readonly remaining: number
  /**
   * Milliseconds, to the microsecond. With nothing remaining: until it lets one in. Else until all is as at first, or the
   * window.
   */
  readonly waitMs: number
}
