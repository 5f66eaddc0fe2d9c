import type { MonotonicClock } from '../../../clock.ts'
import type { Rule, RuleState, Verdict } from '../../ports/limiter.ts'
import { untilRoomMs } from './pending-decisions.ts'

/** What the shared count has refused until when: a client over its limit costs no question, however hard it tries. */
export interface CachedDenial {
  /** Counted from the question, and a little later: see `lateness`. */
  readonly untilMs: number
  /** Counted from the answer: what a caller is told to wait is never too short. */
  readonly answeredAtMs: number
  readonly states: readonly RuleState[]
}

/**
 * By which part of the wait the count is asked later than it may be free, at most. It decided between question and answer:
 * whoever asks again at the earliest instant comes too soon as often as not, and at a hundred times the plan asks at once
 * again. Counted from the answer the wait would be too long by the whole way there, which starves where that is slow.
 */
const lateness = 0.02

/**
 * Until when a hard rule has no room, if one has none.
 * @param sentAtMs when the question left: the count decided no earlier, so nothing is free before `sentAtMs` and the wait
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

/** What a caller is told who comes while it holds. */
export const refusalBy = (rules: readonly Rule[], denial: CachedDenial, nowMs: number): Verdict => {
  const states = denial.states.map(state => waitedOf(state, nowMs - denial.answeredAtMs))
  return { allowed: false, shadowDenied: false, rules: states, waitMs: untilRoomMs(rules, states), source: 'store' }
}

/** What is left of a wait. What came free meanwhile is not known here: it is said when the count is asked. */
const waitedOf = ({ remaining, waitMs }: RuleState, elapsedMs: number): RuleState => ({
  remaining,
  waitMs: Math.max(0.001, waitMs - elapsedMs),
})
