import t from 'tap'
import { shareOf } from '../../../src/share.ts'
import { createLocalFallback, shareOfRule } from '../../../src/stores/limits/local-fallback.ts'
import { excessOver, mostInAnyWindow } from '../../conformance/oracle.ts'
import { newCharge, newRule } from '../../support/charges.ts'
import { createTestClock } from '../../support/test-clock.ts'

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

t.test('the shares of all places add up to the limit and differ by one at most', async t => {
  for (const limit of [1, 7, 10, 100, 101, 5000])
    for (const places of [1, 2, 3, 8, 24, 100]) {
      const shares = Array.from({ length: places }, (_, index) => shareOf(limit, { index, of: places }))
      t.equal(sum(shares), limit)
      t.ok(Math.max(...shares) - Math.min(...shares) <= 1)
    }
})

t.test('smooth: rates and bursts of the shares add up, and a share that has one of them has the other', async t => {
  for (const [limit, burst] of [
    [100, 10],
    [7, 7],
    [5, 20],
    [1000, 1],
  ] as const)
    for (const places of [1, 4, 24]) {
      const rule = newRule(limit, { algorithm: 'smooth', burst })
      const shares = Array.from({ length: places }, (_, index) => shareOfRule(rule, { index, of: places }))

      t.equal(sum(shares.map(share => share.limit)), limit)
      t.equal(sum(shares.map(share => share.burst)), burst)
      t.ok(shares.every(share => share.limit > 0 === share.burst > 0))
    }
})

for (const algorithm of ['strict', 'smooth', 'calendar'] as const)
  t.test(`${algorithm}: all places together admit what the plan allows`, async t => {
    const clock = createTestClock(0)
    const places = 4
    const locals = Array.from({ length: places }, (_, index) =>
      createLocalFallback(() => ({ index, of: places }), clock),
    )
    const charge = newCharge(100, { algorithm, burst: 10 })
    const admissions: number[] = []
    while (clock.nowMs() < 10_000) {
      for (const local of locals) if (local.decide(charge).allowed) admissions.push(clock.nowMs())
      clock.advance(2.5)
    }

    t.ok(admissions.length >= 0.97 * 1000, `${admissions.length} of 1000`)
    if (algorithm === 'strict') t.ok(mostInAnyWindow(admissions, 1000) <= 100)
    else t.ok(admissions.length <= 1000 + (algorithm === 'smooth' ? 10 : 0))
    if (algorithm === 'smooth') t.ok(excessOver(admissions, 0.1) <= 10 + 1e-6)
  })

for (const algorithm of ['strict', 'smooth', 'calendar'] as const)
  t.test(`${algorithm}: an admission of the shared count just before is not granted again`, async t => {
    const clock = createTestClock(0)
    const local = createLocalFallback(() => ({ index: 0, of: 2 }), clock)
    const charge = newCharge(10, { algorithm, burst: 10 })

    local.record(charge, { granted: 10, grantedSoftly: 10, rules: [] })

    t.equal(local.decide(charge).allowed, false)
    clock.advance(1000)
    t.equal(local.decide(charge).allowed, true, 'a second later it is over')
  })

t.test('a plan with only soft rules refuses no charge, even without its count', async t => {
  const local = createLocalFallback(() => ({ index: 0, of: 1 }), createTestClock(0))
  const soft = { ...newCharge(1, { mode: 'soft' }), whenStoreFails: 'closed' } as const
  const hard = { ...newCharge(1), whenStoreFails: 'closed' } as const
  const both = { ...hard, rules: [...soft.rules, ...hard.rules] }

  t.match(local.decide(soft), { allowed: true, source: 'open' })
  t.match(local.decide(hard), { allowed: false, source: 'closed' })
  t.match(local.decide(both), { allowed: false, source: 'closed' })
})
