import type { PlanRule } from '../plans/plan-rules.ts'
import type { RuleState, Verdict } from '../stores/ports/limiter.ts'

/**
 * In which fields responses tell the state of a plan. `ietf`: draft-ietf-httpapi-ratelimit-headers, an item for each
 * limit. `ratelimit`: the three fields of its drafts up to 06, for the tightest limit. `x-ratelimit`: the same with the
 * older names. `api-connect`: in the format of API Connect, a `name=…,N;` for each limit.
 */
export const limitFieldForms = ['ietf', 'ratelimit', 'x-ratelimit', 'api-connect', 'none'] as const

export type LimitFieldForm = (typeof limitFieldForms)[number]

/** Creates header fields, names and values in turn, for a verdict on these rules. */
export type LimitFields = (verdict: Verdict) => readonly string[]

export const createLimitFields = (form: LimitFieldForm, plan: string, rules: readonly PlanRule[]): LimitFields => {
  switch (form) {
    case 'ietf':
      return ietfFields(plan, rules)
    case 'ratelimit':
      return tightestFields('ratelimit', rules)
    case 'x-ratelimit':
      return tightestFields('x-ratelimit', rules)
    case 'api-connect':
      return apiConnectFields(rules)
    case 'none':
      return () => noFields
  }
}

const noFields: readonly string[] = []

/** Whole seconds, rounded up and at least one, so that a retry after them is not too early. */
export const toWaitSec = (waitMs: number): number => Math.max(1, Math.ceil(waitMs / 1000))

const ietfFields = (plan: string, rules: readonly PlanRule[]): LimitFields => {
  const names = rules.map(({ kind }) => (kind === 'rate' ? `"${plan}"` : `"${plan}-${kind}"`))
  const policy = rules.map(({ rate }, nth) => `${names[nth]};q=${rate.limit};w=${rate.windowSec}`).join(', ')
  const itemOf = (name: string | undefined, { remaining, waitMs }: RuleState): string =>
    `${name};r=${remaining};t=${toWaitSec(waitMs)}`
  return ({ rules: states }) => {
    let items = ''
    for (let nth = 0; nth < states.length; nth++) {
      items += (nth === 0 ? '' : ', ') + itemOf(names[nth], states[nth] ?? nothing)
    }
    return ['ratelimit-policy', policy, 'ratelimit', items]
  }
}

const tightestFields = (prefix: string, rules: readonly PlanRule[]): LimitFields => {
  const [limitField, remainingField, resetField] = [`${prefix}-limit`, `${prefix}-remaining`, `${prefix}-reset`]
  return ({ rules: states }) => {
    const nth = tightestOf(states)
    const { remaining, waitMs } = states[nth] ?? nothing
    const limit = rules[nth]?.rate.limit ?? 0
    return [limitField, String(limit), remainingField, String(remaining), resetField, String(toWaitSec(waitMs))]
  }
}

const nothing: RuleState = { remaining: 0, waitMs: 0 }

/** Index of the limit with the least remaining. Among equals, the one with the longest wait. */
const tightestOf = (states: readonly RuleState[]): number => {
  let tightest = 0
  for (const [nth, { remaining, waitMs }] of states.entries()) {
    const least = states[tightest] ?? nothing
    if (remaining < least.remaining || (remaining === least.remaining && waitMs > least.waitMs)) tightest = nth
  }
  return tightest
}

const apiConnectFields = (rules: readonly PlanRule[]): LimitFields => {
  const names = rules.map(({ kind }) => (kind === 'rate' ? 'default' : kind))
  const limits = rules.map(({ rate }, nth) => `name=${names[nth]},${rate.limit};`).join('')
  return ({ rules: states }) => [
    'x-ratelimit-limit',
    limits,
    'x-ratelimit-remaining',
    states.map(({ remaining }, nth) => `name=${names[nth]},${remaining};`).join(''),
  ]
}
