import t from 'tap'
import { resolveInOrder, toVerdict } from '../../../../src/stores/limits/batching/pending-decisions.ts'
import { createCounters } from '../../../../src/stores/limits/counters.ts'
import type { Rule, Verdict } from '../../../../src/stores/ports/limiter.ts'
import { newRule } from '../../../support/charges.ts'
import { createTestClock } from '../../../support/test-clock.ts'

/** Counters in use: part of a window of 1000 ms has passed, and two places of each counter are taken. */
const countersInUse = (rules: readonly Rule[]) => {
  const clock = createTestClock(5_000_000)
  const counters = createCounters(clock)
  counters.decide({ key: 'key', rules }, 2)
  clock.advance(130)
  return counters
}

const oneByOne = (rules: readonly Rule[], requests: number): readonly Verdict[] => {
  const counters = countersInUse(rules)
  return Array.from({ length: requests }, () => toVerdict(rules, counters.decide({ key: 'key', rules }), 'store'))
}

const together = (rules: readonly Rule[], requests: number): readonly Verdict[] => {
  const verdicts: Verdict[] = []
  const decision = countersInUse(rules).decide({ key: 'key', rules }, requests)
  resolveInOrder(
    Array.from({ length: requests }, () => (verdict: Verdict) => verdicts.push(verdict)),
    rules,
    decision,
  )
  return verdicts
}

const settings: readonly (readonly [says: string, rules: readonly Rule[]])[] = [
  ...(['strict', 'smooth', 'calendar'] as const).flatMap(algorithm => [
    [algorithm, [newRule(7, { algorithm, burst: 5 })]] as const,
    [`soft ${algorithm}`, [newRule(7, { algorithm, burst: 5, mode: 'soft' })]] as const,
  ]),
  [
    'three of a kind each, with room for different numbers',
    [
      newRule(9, { counter: 'a' }),
      newRule(8, { counter: 'b', algorithm: 'smooth', burst: 6 }),
      newRule(4, { counter: 'c', algorithm: 'calendar', mode: 'soft' }),
      newRule(5, { counter: 'd', algorithm: 'smooth', burst: 3, mode: 'soft' }),
    ],
  ],
]

for (const [says, rules] of settings) {
  for (const requests of [1, 2, 4, 10]) {
    t.test(`${says}: ${requests} charges at the same time get the verdicts that they would get one by one`, async t => {
      t.strictSame(together(rules, requests), oneByOne(rules, requests))
    })
  }
}
