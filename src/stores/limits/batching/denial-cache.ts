import type { MonotonicClock } from '../../../clock.ts'
import type { Rule, RuleState, Verdict } from '../../ports/limiter.ts'
import { untilRoomMs } from './pending-decisions.ts'

/**
 * A denial of the shared count and how long it holds. So a client over its limit causes no further calls, however often
 * it tries.
 */
export interface CachedDenial {
  /** Measured from the question, and a little later: see `lateness`. */
  readonly untilMs: number
  /** Waits are measured from the answer, so that a caller is never told a wait that is too short. */
  readonly answeredAtMs: number
  readonly states: readonly RuleState[]
}

/**
 * Maximum fraction of the wait by which a retry may be delayed. The count decided at some time between question and
 * answer. A retry at the earliest possible time comes too early every second time, and at a hundred times the plan's
 * rate the next request would retry at once. A wait measured from the answer would be too long by the whole latency,
 * which starves the client if the latency is high.
 */
const lateness = 0.02

/**
 * How long a hard rule has no room, or undefined if all have room.
 * @param sentAtMs when the question was sent. The count decided at that time or later, so there is no room before
 * `sentAtMs` plus the wait.
 */
export const denialBy = (
  rules: readonly Rule[],
  states: readonly RuleState[],
  sentAtMs: number,
  clock: MonotonicClock,
): CachedDenial | undefined => {
  const waitMs = untilRoomMs(rules, states)
  if (waitMs === 0) return undefined
  const answeredAtMs = clock.nowMs()
  const lateMs = Math.min(answeredAtMs - sentAtMs, waitMs * lateness)
  return { untilMs: sentAtMs + waitMs + lateMs, answeredAtMs, states }
}

/** The verdict for a charge that comes while the denial holds. */
export const refusalBy = (rules: readonly Rule[], denial: CachedDenial, nowMs: number): Verdict => {
  const states = denial.states.map(state => waitedOf(state, nowMs - denial.answeredAtMs))
  return { allowed: false, shadowDenied: false, rules: states, waitMs: untilRoomMs(rules, states), source: 'store' }
}

/** The rest of a wait. Room that became free meanwhile is not known here; the next call to the count reports it. */
const waitedOf = ({ remaining, waitMs }: RuleState, elapsedMs: number): RuleState => ({
  remaining,
  waitMs: Math.max(0.001, waitMs - elapsedMs),
})
