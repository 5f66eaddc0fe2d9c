import t from 'tap'
import { defaultBurst, rulesOf } from '../../src/plans/plan-rules.ts'
import { newPlan } from '../support/plans.ts'

const operation = { label: 'GET /a', grouping: 'A' }

t.test('a plan with a quota and a burst limit has three rules, the rate first', async t => {
  const plan = newPlan({ quota: { limit: 5000, windowSec: 86_400 }, burstLimit: { limit: 20, windowSec: 1 } })

  t.same(
    rulesOf(plan, operation).map(({ kind, rule: { counter, limit, windowMs } }) => [kind, counter, limit, windowMs]),
    [
      ['rate', 'A', 2, 60_000],
      ['quota', 'A quota', 5000, 86_400_000],
      ['burst', 'A burst', 20, 1000],
    ],
  )
  t.same(
    rulesOf(newPlan(), operation).map(({ kind }) => kind),
    ['rate'],
  )
})

t.test('a soft plan refuses nothing but what exceeds its burst limit, which protects the upstream', async t => {
  const limits = { quota: { limit: 5000, windowSec: 86_400 }, burstLimit: { limit: 20, windowSec: 1 } }
  const modes = rulesOf(newPlan({ ...limits, mode: 'soft' }), operation).map(({ kind, rule }) => [kind, rule.mode])

  t.same(modes, [
    ['rate', 'soft'],
    ['quota', 'soft'],
    ['burst', 'hard'],
  ])
})

t.test('a quota and a burst limit are never smooth', async t => {
  const limits = { quota: { limit: 5000, windowSec: 86_400 }, burstLimit: { limit: 20, windowSec: 1 } }
  const algorithmsOf = (algorithm: 'smooth' | 'calendar'): readonly string[] =>
    rulesOf(newPlan({ ...limits, algorithm }), operation).map(({ rule }) => rule.algorithm)

  t.same(algorithmsOf('smooth'), ['smooth', 'strict', 'strict'])
  t.same(algorithmsOf('calendar'), ['calendar', 'calendar', 'strict'])
})

t.test("an operation's own rate has a counter of its own, and shares the quota", async t => {
  const plan = newPlan({
    quota: { limit: 5000, windowSec: 86_400 },
    operations: { 'GET /a': { limit: 1, windowSec: 1 } },
  })

  t.same(
    rulesOf(plan, operation).map(({ rule: { counter, limit } }) => [counter, limit]),
    [
      ['GET /a', 1],
      ['A quota', 5000],
    ],
  )
})

t.test('smooth lets in a tenth of the rate at once, but ten if the rate has as many', async t => {
  t.same(
    [1, 9, 10, 11, 100, 101, 1000].map(limit => defaultBurst({ limit, windowSec: 1 })),
    [1, 9, 10, 10, 10, 11, 100],
  )
})
