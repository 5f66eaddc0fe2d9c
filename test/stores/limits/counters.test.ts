import t from 'tap'
import { createCounters } from '../../../src/stores/limits/counters.ts'
import type { Rule } from '../../../src/stores/ports/limiter.ts'
import { mostInAnyWindow } from '../../conformance/oracle.ts'
import { newRule } from '../../support/charges.ts'
import { createRandom } from '../../support/random.ts'
import { createTestClock } from '../../support/test-clock.ts'

const windowMs = 1000

/** A count under one key by one rule. */
const countOf = (limit: number, changes: Partial<Rule> = {}, key = 'key') => ({ key, rules: [newRule(limit, changes)] })

/** Offers `perSecond` charges at random microseconds for `seconds`; returns the microseconds of the granted charges. */
const admissionsOf = (limit: number, perSecond: number, seconds: number, seed: number): number[] => {
  let nowMicros = 0
  const counters = createCounters({ nowMs: () => nowMicros / 1000 })
  const random = createRandom(seed)
  const admissions: number[] = []
  while (nowMicros < seconds * 1_000_000) {
    nowMicros += Math.ceil((-Math.log(1 - random()) * 1_000_000) / perSecond)
    if (counters.decide(countOf(limit)).granted === 1) admissions.push(nowMicros)
  }
  return admissions
}

for (const [limit, perSecond] of [
  [100, 100],
  [100, 1000],
  [7, 5000],
  [2000, 20_000],
  [1001, 1100],
] as const) {
  t.test(`${perSecond} charges a second: any second has at most ${limit} admissions, and hardly fewer`, async t => {
    const seconds = 10

    const admissions = admissionsOf(limit, perSecond, seconds, limit + perSecond)

    t.ok(mostInAnyWindow(admissions, windowMs * 1000) <= limit)
    if (perSecond > limit) t.ok(admissions.length >= 0.97 * limit * seconds)
  })
}

t.test('evenly spaced charges below the limit are all granted', async t => {
  const clock = createTestClock(0)
  const counters = createCounters(clock)
  for (let i = 0; i < 2000; i++) {
    clock.advance(1000 / 95)
    t.equal(counters.decide(countOf(100)).granted, 1)
  }
})

t.test('the wait is exact to the millisecond: one less is too early', async t => {
  const clock = createTestClock(0)
  const counters = createCounters(clock)
  const count = countOf(2)
  counters.decide(count)
  clock.advance(300)
  counters.decide(count)
  clock.advance(100)

  t.match(counters.decide(count), { granted: 0, rules: [{ waitMs: 600 }] })
  clock.advance(599)
  t.equal(counters.decide(count).granted, 0)
  clock.advance(1)
  t.equal(counters.decide(count).granted, 1)
})

t.test('a charge for many requests at once is granted as many as fit', async t => {
  const counters = createCounters(createTestClock())
  const count = countOf(10)

  t.match(counters.decide(count, 7), { granted: 7, rules: [{ remaining: 3, waitMs: windowMs }] })
  t.match(counters.decide(count, 7), { granted: 3, rules: [{ remaining: 0, waitMs: windowMs }] })
  t.match(counters.decide(count, 7), { granted: 0, rules: [{ remaining: 0, waitMs: windowMs }] })
})

t.test('a lowered limit holds at once, and the wait lasts until enough admissions have expired', async t => {
  const clock = createTestClock(0)
  const counters = createCounters(clock)
  for (let i = 0; i < 10; i++) {
    counters.decide(countOf(10))
    clock.advance(10)
  }

  t.match(counters.decide(countOf(4)), { granted: 0, rules: [{ waitMs: 1000 - 100 + 60 }] })
})

t.test('a share of zero grants nothing', async t => {
  const counters = createCounters(createTestClock())

  t.match(counters.decide(countOf(1), 1, [{ limit: 0, windowMs, burst: 0 }]), {
    granted: 0,
    rules: [{ remaining: 0, waitMs: windowMs }],
  })
})

t.test('admissions that were decided elsewhere count, also above the limit', async t => {
  const clock = createTestClock()
  const counters = createCounters(clock)
  counters.record(countOf(100), { granted: 60, grantedSoftly: 60 }, countOf(100).rules, clock.nowMs() * 1000)

  t.match(counters.decide(countOf(100), 1, [{ limit: 50, windowMs, burst: 1 }]), { granted: 0 })
  t.match(counters.decide(countOf(100), 100), { granted: 40 })
})

t.test('expired keys are forgotten when other keys are added, and when other keys are charged', async t => {
  const clock = createTestClock()
  const counters = createCounters(clock)
  for (let i = 0; i < 5000; i++) {
    counters.decide(countOf(10, {}, `key ${i}`))
    clock.advance(10)
  }
  t.ok(counters.size < 250, 'a hundred are alive at any time')

  for (let i = 0; i < 10_000; i++) {
    counters.decide(countOf(10, {}, 'one'))
    clock.advance(1)
  }
  t.equal(counters.size, 1)
})

t.test('a plan that changes to a small limit and a short window admits at once, and never too many', async t => {
  const clock = createTestClock(12_345)
  const counters = createCounters(clock)
  for (let i = 0; i < 300; i++) counters.decide(countOf(100_000, { windowMs: 86_400_000 }))

  const granted = Array.from({ length: 150 }, () => counters.decide(countOf(100)).granted)
  t.equal(granted.filter(Boolean).length, 100)
  clock.advance(windowMs + 1)
  t.equal(counters.decide(countOf(100)).granted, 1)
})
