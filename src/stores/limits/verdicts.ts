import type { Rule, RuleState, Verdict } from '../ports/limiter.ts'
import type { Decision } from './counters.ts'

/** A caller that waits for its verdict. */
export type Waiter = (verdict: Verdict) => void

/** The verdict for a request that was decided alone. */
export const toVerdict = (rules: readonly Rule[], decision: Decision, source: Verdict['source']): Verdict => ({
  allowed: decision.granted > 0,
  shadowDenied: decision.granted > decision.grantedSoftly,
  rules: decision.rules,
  waitMs: untilRoomMs(rules, decision.rules),
  source,
})

/** Hands what was granted to those who came first; each sees what was left when its own turn came. */
export const settleTogether = (waiters: readonly Waiter[], rules: readonly Rule[], decision: Decision): void => {
  for (let place = 0; place < waiters.length; place++) {
    waiters[place]?.(toVerdict(rules, decisionAt(decision, rules, place), 'store'))
  }
}

/** What the decision would have been at one's own turn. */
const decisionAt = (decision: Decision, rules: readonly Rule[], place: number): Decision => {
  const later = Math.max(0, decision.granted - 1 - place)
  const laterSoftly = Math.max(0, decision.grantedSoftly - 1 - place)
  return {
    granted: place < decision.granted ? 1 : 0,
    grantedSoftly: place < decision.grantedSoftly ? 1 : 0,
    rules:
      later === 0
        ? decision.rules
        : rules.map((rule, nth) => stateBefore(rule, decision.rules[nth], later, laterSoftly)),
  }
}

/** Where a counter stood before so many more were let in. */
const stateBefore = (rule: Rule, state = noRoom, later: number, laterSoftly: number): RuleState => ({
  remaining: state.remaining + (rule.mode === 'soft' ? laterSoftly : later),
  waitMs: rule.algorithm === 'calendar' ? state.waitMs : rule.windowMs,
})

const noRoom: RuleState = { remaining: 0, waitMs: 1 }

/** Milliseconds until every hard rule has room: 0 where all have. */
export const untilRoomMs = (rules: readonly Rule[], states: readonly RuleState[]): number => {
  let longestMs = 0
  let place = 0
  for (const { remaining, waitMs } of states) {
    if (remaining === 0 && rules[place]?.mode !== 'soft' && waitMs > longestMs) longestMs = waitMs
    place++
  }
  return longestMs
}
