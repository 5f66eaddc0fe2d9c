import t from 'tap'
import { createLimitFields, type LimitFieldForm } from '../../src/gateway/ratelimit-headers.ts'
import { rulesOf } from '../../src/plans/plan-rules.ts'
import type { RuleState, Verdict } from '../../src/stores/ports/limiter.ts'
import { newPlan } from '../support/plans.ts'

const plan = newPlan({
  name: 'gold',
  rate: { limit: 100, windowSec: 60 },
  quota: { limit: 5000, windowSec: 86_400 },
  burstLimit: { limit: 20, windowSec: 1 },
})

const verdictOf = (rules: readonly RuleState[]): Verdict => ({
  allowed: true,
  shadowDenied: false,
  rules,
  waitMs: 0,
  source: 'store',
})

/** The remaining counts of the rate, the quota and the burst limit. */
const states: readonly RuleState[] = [
  { remaining: 42, waitMs: 60_000 },
  { remaining: 17, waitMs: 86_400_000 },
  { remaining: 19, waitMs: 1400 },
]

const fieldsOf = (form: LimitFieldForm, changed = plan, left = states): readonly string[] =>
  createLimitFields(form, 'gold', rulesOf(changed, { label: 'GET /a', grouping: 'A' }))(verdictOf(left))

t.test('ietf: a policy and a state for each limit, seconds rounded up', async t => {
  t.same(fieldsOf('ietf'), [
    'ratelimit-policy',
    '"gold";q=100;w=60, "gold-quota";q=5000;w=86400, "gold-burst";q=20;w=1',
    'ratelimit',
    '"gold";r=42;t=60, "gold-quota";r=17;t=86400, "gold-burst";r=19;t=2',
  ])
})

t.test('ratelimit and x-ratelimit: the limit with the least left', async t => {
  t.same(fieldsOf('ratelimit'), ['ratelimit-limit', '5000', 'ratelimit-remaining', '17', 'ratelimit-reset', '86400'])
  t.same(fieldsOf('x-ratelimit').slice(2, 4), ['x-ratelimit-remaining', '17'])
})

t.test('of two limits with nothing left it is the one that is longest to wait for', async t => {
  const spent = [
    { remaining: 0, waitMs: 1500 },
    { remaining: 0, waitMs: 3_600_000 },
    { remaining: 0, waitMs: 10 },
  ]

  t.same(fieldsOf('ratelimit', plan, spent).slice(-1), ['3600'])
})

t.test('api-connect: every limit by name, as API Connect writes them', async t => {
  t.same(fieldsOf('api-connect'), [
    'x-ratelimit-limit',
    'name=default,100;name=quota,5000;name=burst,20;',
    'x-ratelimit-remaining',
    'name=default,42;name=quota,17;name=burst,19;',
  ])
  t.same(fieldsOf('api-connect', newPlan({ rate: { limit: 100, windowSec: 1 } }), [{ remaining: 92, waitMs: 1 }]), [
    'x-ratelimit-limit',
    'name=default,100;',
    'x-ratelimit-remaining',
    'name=default,92;',
  ])
})

t.test('none: nothing', async t => {
  t.same(fieldsOf('none'), [])
})
