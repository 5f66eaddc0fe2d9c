import t from 'tap'
import { createCounters } from '../../../src/stores/limits/counters.ts'
import type { Rule } from '../../../src/stores/ports/limiter.ts'
import { excessOver, mostInAnyWindow } from '../../conformance/oracle.ts'
import { newRule } from '../../support/charges.ts'
import { createRandom } from '../../support/random.ts'
import { createTestClock } from '../../support/test-clock.ts'

const second = 1_000_000

/** Offers `perSecond` charges at random microseconds for `seconds`; returns the microseconds of the granted charges. */
const admissionsOf = (rule: Rule, perSecond: number, seconds: number): readonly number[] => {
  let nowMicros = 0
  const counters = createCounters({ nowMs: () => nowMicros / 1000 })
  const random = createRandom(rule.limit + perSecond)
  const count = { key: 'key', rules: [rule] }
  const admissions: number[] = []
  while (nowMicros < seconds * second) {
    nowMicros += Math.ceil((-Math.log(1 - random()) * second) / perSecond)
    if (counters.decide(count).granted === 1) admissions.push(nowMicros)
  }
  return admissions
}

for (const [limit, burst, perSecond] of [
  [100, 10, 1000],
  [100, 100, 5000],
  [100, 1, 50_000],
  [7, 7, 300],
  [3000, 300, 30_000],
] as const) {
  t.test(`smooth, ${limit} a second and ${burst} at once: the limit holds at ${perSecond} a second`, async t => {
    const seconds = 10

    const admissions = admissionsOf(newRule(limit, { algorithm: 'smooth', burst }), perSecond, seconds)

    t.ok(mostInAnyWindow(admissions, second) <= limit + burst - 1)
    t.ok(excessOver(admissions, limit / second) <= burst + 1e-6, 'at most the rate and one burst over any time')
    t.ok(admissions.length >= 0.97 * limit * seconds)
  })
}

t.test('strict: an admission under a large limit counts for the whole window, whichever slice it is in', async t => {
  const clock = createTestClock(0.9)
  const counters = createCounters(clock)
  const count = { key: 'key', rules: [newRule(1024, { windowMs: 512 })] }

  t.equal(counters.decide(count, 1024).granted, 1024)
  clock.advance(511.6)
  t.equal(counters.decide(count).granted, 0)
  clock.advance(0.5)
  t.equal(counters.decide(count).granted, 1)
})

t.test('calendar: grants the limit in each calendar window, but not more', async t => {
  const admissions = admissionsOf(newRule(100, { algorithm: 'calendar' }), 1000, 10)

  const perTurn = Object.values(Object.groupBy(admissions, micros => Math.floor(micros / second)))
  t.ok(perTurn.every(turn => (turn?.length ?? 0) <= 100))
  t.ok(admissions.length >= 0.97 * 1000)
})

t.test('calendar: all counters turn together, at whole multiples of the window', async t => {
  const clock = createTestClock(1_790_000_000_000 - 300)
  const counters = createCounters(clock)
  const rules = [newRule(1, { algorithm: 'calendar' })]
  const early = { key: 'early', rules }
  const late = { key: 'late', rules }

  t.match(counters.decide(early), { granted: 1, rules: [{ remaining: 0, waitMs: 300 }] })
  clock.advance(100)
  t.match(counters.decide(late), { granted: 1, rules: [{ remaining: 0, waitMs: 200 }] })
  clock.advance(199)
  t.match([counters.decide(early), counters.decide(late)], [{ granted: 0 }, { granted: 0 }])
  clock.advance(1)
  t.match([counters.decide(early), counters.decide(late)], [{ granted: 1 }, { granted: 1 }])
})

t.test('smooth: the wait is exact to the microsecond, one less is too early', async t => {
  for (const limit of [3, 7, 10, 100]) {
    const clock = createTestClock(0)
    const counters = createCounters(clock)
    const count = { key: 'key', rules: [newRule(limit, { algorithm: 'smooth', burst: 1 })] }
    counters.decide(count)
    const { waitMs } = counters.decide(count).rules[0] ?? { waitMs: 0 }

    t.equal(waitMs, Math.ceil(second / limit) / 1000)
    clock.advance(waitMs - 0.001)
    t.equal(counters.decide(count).granted, 0)
    clock.advance(0.001)
    t.equal(counters.decide(count).granted, 1)
  }
})

t.test('smooth: charges at exactly the rate are never refused', async t => {
  let nowMicros = 0
  const counters = createCounters({ nowMs: () => nowMicros / 1000 })
  const count = { key: 'key', rules: [newRule(8, { algorithm: 'smooth', burst: 1 })] }
  let refused = 0
  for (let nth = 1; nth < 100_000; nth++) {
    refused += 1 - counters.decide(count).granted
    nowMicros = (nth * second) / 8
  }

  t.equal(refused, 0)
})

t.test('counters of every algorithm are forgotten when they have run out', async t => {
  const clock = createTestClock()
  const counters = createCounters(clock)
  const rules = (['strict', 'smooth', 'calendar'] as const).map(algorithm => newRule(10, { algorithm, burst: 10 }))
  for (let i = 0; i < 2000; i++) {
    counters.decide({ key: `key ${i}`, rules })
    clock.advance(10)
  }

  t.ok(counters.size < 250, `a hundred keys are alive at any time: ${counters.size}`)
})
