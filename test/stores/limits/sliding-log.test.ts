import t from 'tap'
import { createSlidingLogs } from '../../../src/stores/limits/sliding-log.ts'
import { mostInAnyWindow } from '../../conformance/oracle.ts'
import { createTestClock } from '../../support/test-clock.ts'

/** A generator of numbers in [0, 1) that gives the same ones in every run (mulberry32). */
const createRandom = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

const windowMs = 1000

/** Offers `perSecond` charges at random microseconds for `seconds`; the microseconds of those that got in. */
const admissionsOf = (limit: number, perSecond: number, seconds: number, seed: number): number[] => {
  let nowMicros = 0
  const logs = createSlidingLogs({ nowMs: () => nowMicros / 1000 })
  const random = createRandom(seed)
  const admissions: number[] = []
  while (nowMicros < seconds * 1_000_000) {
    nowMicros += Math.ceil((-Math.log(1 - random()) * 1_000_000) / perSecond)
    if (logs.decide({ key: 'key', limit, windowMs }).granted === 1) admissions.push(nowMicros)
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
  t.test(`of ${perSecond} a second never more than ${limit} get in, in any second, and hardly less`, async t => {
    const seconds = 10

    const admissions = admissionsOf(limit, perSecond, seconds, limit + perSecond)

    t.ok(mostInAnyWindow(admissions, windowMs * 1000) <= limit)
    if (perSecond > limit) t.ok(admissions.length >= 0.97 * limit * seconds)
  })
}

t.test('evenly spaced below the limit, nobody is refused', async t => {
  const clock = createTestClock(0)
  const logs = createSlidingLogs(clock)
  for (let i = 0; i < 2000; i++) {
    clock.advance(1000 / 95)
    t.equal(logs.decide({ key: 'key', limit: 100, windowMs }).granted, 1)
  }
})

t.test('the wait is exact to the millisecond: one less is too early', async t => {
  const clock = createTestClock(0)
  const logs = createSlidingLogs(clock)
  const count = { key: 'key', limit: 2, windowMs }
  logs.decide(count)
  clock.advance(300)
  logs.decide(count)
  clock.advance(100)

  const { granted, waitMs } = logs.decide(count)

  t.same([granted, waitMs], [0, 600])
  clock.advance(599)
  t.equal(logs.decide(count).granted, 0)
  clock.advance(1)
  t.equal(logs.decide(count).granted, 1)
})

t.test('of many wanted at once as many are granted as fit', async t => {
  const logs = createSlidingLogs(createTestClock())
  const count = { key: 'key', limit: 10, windowMs }

  t.match(logs.decide(count, 7), { granted: 7, remaining: 3, waitMs: windowMs })
  t.match(logs.decide(count, 7), { granted: 3, remaining: 0, waitMs: windowMs })
  t.match(logs.decide(count, 7), { granted: 0, remaining: 0, waitMs: windowMs })
})

t.test('a limit that was lowered is kept from then on, with the wait until enough have gone', async t => {
  const clock = createTestClock(0)
  const logs = createSlidingLogs(clock)
  for (let i = 0; i < 10; i++) {
    logs.decide({ key: 'key', limit: 10, windowMs })
    clock.advance(10)
  }

  t.match(logs.decide({ key: 'key', limit: 4, windowMs }), { granted: 0, waitMs: 1000 - 100 + 60 })
})

t.test('a share of nothing lets nobody in', async t => {
  const logs = createSlidingLogs(createTestClock())

  t.match(logs.decide({ key: 'key', limit: 1, windowMs }, 1, 0), { granted: 0, remaining: 0, waitMs: windowMs })
})

t.test('what was decided elsewhere counts, also above the limit', async t => {
  const logs = createSlidingLogs(createTestClock())
  logs.record({ key: 'key', limit: 100, windowMs }, 60)

  t.match(logs.decide({ key: 'key', limit: 100, windowMs }, 1, 50), { granted: 0 })
  t.match(logs.decide({ key: 'key', limit: 100, windowMs }, 100), { granted: 40 })
})

t.test('keys that have run out are forgotten as others come, and as others are counted', async t => {
  const clock = createTestClock()
  const logs = createSlidingLogs(clock)
  for (let i = 0; i < 5000; i++) {
    logs.decide({ key: `key ${i}`, limit: 10, windowMs })
    clock.advance(10)
  }
  t.ok(logs.size < 250, 'a hundred are alive at any time')

  for (let i = 0; i < 10_000; i++) {
    logs.decide({ key: 'one', limit: 10, windowMs })
    clock.advance(1)
  }
  t.equal(logs.size, 1)
})
