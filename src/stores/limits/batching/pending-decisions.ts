import type { Rule, RuleState, Verdict } from '../../ports/limiter.ts'
import type { Decision } from '../counters.ts'

/** The callback of a caller that waits for its verdict. */
export type PendingDecision = (verdict: Verdict) => void

/** The verdict for a single request. */
export const toVerdict = (rules: readonly Rule[], decision: Decision, source: Verdict['source']): Verdict => ({
  allowed: decision.granted > 0,
  shadowDenied: decision.granted > decision.grantedSoftly,
  rules: decision.rules,
  waitMs: untilRoomMs(rules, decision.rules),
  source,
})

/** Grants the admissions to the first callers. Each caller sees what was left when its own request was counted. */
export const resolveInOrder = (
  waiters: readonly PendingDecision[],
  rules: readonly Rule[],
  decision: Decision,
): void => {
  for (let place = 0; place < waiters.length; place++) {
    waiters[place]?.(toVerdict(rules, decisionAt(decision, rules, place), 'store'))
  }
}

/** The decision as it was after the request at `place` was counted. */
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

/** The state of a counter before `later` more requests were admitted. */
const stateBefore = (rule: Rule, state = noRoom, later: number, laterSoftly: number): RuleState => {
  const more = rule.mode === 'soft' ? laterSoftly : later
  return more === 0 ? state : { remaining: state.remaining + more, waitMs: waitBefore(rule, state, more) }
}

/** There was room, so the wait is the time until the counter would have been empty, or the window. */
const waitBefore = (
  { algorithm, limit, windowMs, burst }: Rule,
  { remaining, waitMs }: RuleState,
  more: number,
): number => {
  switch (algorithm) {
    case 'strict':
      return windowMs
    case 'calendar':
      return waitMs
    case 'smooth': {
      const eachMs = windowMs / limit
      // With nothing remaining, `waitMs` is the time until one request fits: `burst - 1` requests before the bucket is
      // empty.
      const untilEmptyMs = remaining > 0 ? waitMs : waitMs + (burst - 1) * eachMs
      return Math.max(0.001, Math.round((untilEmptyMs - more * eachMs) * 1000) / 1000)
    }
  }
}

const noRoom: RuleState = { remaining: 0, waitMs: 1 }

/** Milliseconds until every hard rule has room; 0 if all have room now. */
export const untilRoomMs = (rules: readonly Rule[], states: readonly RuleState[]): number => {
  let longestMs = 0
  let place = 0
  for (const { remaining, waitMs } of states) {
    if (remaining === 0 && rules[place]?.mode !== 'soft' && waitMs > longestMs) longestMs = waitMs
    place++
  }
  return longestMs
}
