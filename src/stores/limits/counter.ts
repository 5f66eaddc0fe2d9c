import type { Rule } from '../ports/limiter.ts'

/** What a counter is held to at one decision: a rule, or a process's share of one, which may be nothing. */
export interface Terms extends Pick<Rule, 'limit' | 'windowMs' | 'burst'> {
  /** The limit of the whole rule, where this is a share of it. */
  readonly wholeLimit?: number
}

/**
 * One counter under one algorithm. Instants are whole microseconds, as Redis keeps them, and never go back.
 */
export interface Counter {
  /** From this instant on it says what a new one would say. */
  readonly overAtMicros: number
  /** How many more fit now; less than none where more were written down elsewhere. */
  room(terms: Terms, nowMicros: number): number
  /** Writes admissions down. Whoever decides asks for room first; what was decided elsewhere is written down unasked. */
  add(terms: Terms, nowMicros: number, admitted: number): void
  /** As `RuleState.waitMs`, for what `room` has just said. */
  waitMs(terms: Terms, nowMicros: number, room: number): number
}

/** Whole microseconds, at least one: nobody is told to come too soon. */
export const toWaitMs = (micros: number): number => Math.max(1, Math.ceil(micros)) / 1000
