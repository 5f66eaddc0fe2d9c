import type { Rule } from '../ports/limiter.ts'

/** The limits of a counter at one decision: those of a rule, or of a process's share of one, which may be 0. */
export interface Terms extends Pick<Rule, 'limit' | 'windowMs' | 'burst'> {
  /** The limit of the whole rule, if these are the limits of a share. */
  readonly wholeLimit?: number
}

/** One counter with one algorithm. Times are whole microseconds, as in Redis, and never decrease. */
export interface Counter {
  /** From this time on the counter behaves like a new one. */
  readonly overAtMicros: number
  /** How many more requests fit now. Negative if more were recorded from decisions made elsewhere. */
  room(terms: Terms, nowMicros: number): number
  /**
   * Counts admissions. A caller that decides calls `room` first. Admissions that were decided elsewhere are counted
   * without asking.
   */
  add(terms: Terms, nowMicros: number, admitted: number): void
  /** As `RuleState.waitMs`, given the latest result of `room`. */
  waitMs(terms: Terms, nowMicros: number, room: number): number
}

/** Rounds up to a whole microsecond, at least one, so that no client retries too early. */
export const toWaitMs = (micros: number): number => Math.max(1, Math.ceil(micros)) / 1000
