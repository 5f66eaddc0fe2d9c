import t from 'tap'
import { RetryBudget } from '../../../src/gateway/upstreams/retry-budget.ts'

/** How many of these tries the budget allows at one instant. */
const allowed = (budget: RetryBudget, tries: number, nowMs: number): number =>
  Array.from({ length: tries }, () => budget.take(nowMs)).filter(Boolean).length

t.test('a few retries are allowed however few requests there are', async t => {
  t.equal(allowed(new RetryBudget(20), 100, 0), 30)
})

t.test('of many requests their share may be retried', async t => {
  const budget = new RetryBudget(20)
  budget.take(0)
  budget.requests += 1000

  t.equal(allowed(budget, 1000, 5000), 199)
})

t.test('ten seconds later there is a new budget, for the requests from then on', async t => {
  const budget = new RetryBudget(20)
  budget.requests += 1000
  allowed(budget, 1000, 0)

  t.equal(allowed(budget, 1000, 9_999), 0)
  t.equal(allowed(budget, 1000, 10_000), 30)
})

t.test('a budget of 0 allows no retry', async t => {
  t.equal(allowed(new RetryBudget(0), 100, 0), 0)
})
