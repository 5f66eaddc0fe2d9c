import type { Test } from 'tap'
import type { Charge, Limiter, Verdict } from '../../src/stores/ports.ts'
import { mostCertainInAnyWindow, type SeenAdmission } from './oracle.ts'
import { newId } from './records.ts'

/** What the suite needs of a limiter. */
export interface LimiterUnderTest {
  readonly limiter: Limiter
  /** Milliseconds by a clock that never goes back and that `elapse` moves. */
  nowMs(): number
  /** Lets this many milliseconds pass, not one less. */
  elapse(ms: number): Promise<void>
}

type Open = (t: Test) => Promise<LimiterUnderTest>

const newCharge = (limit: number, changes: Partial<Charge> = {}): Charge => ({
  key: newId(),
  limit,
  windowMs: 1000,
  whenStoreFails: 'local',
  ...changes,
})

/** Everything `Limiter` promises while its count is there, for one adapter. */
export const testLimiter = (t: Test, open: Open): void => {
  t.test('lets in the limit and no more, and counts down what remains', async t => {
    const { limiter } = await open(t)
    const charge = newCharge(5)

    const verdicts = await inTurn(6, () => limiter.charge(charge))

    t.same(verdicts.map(allowed), [true, true, true, true, true, false])
    t.same(verdicts.map(remaining), [4, 3, 2, 1, 0, 0])
    t.ok(verdicts.every(({ source }) => source === 'store'))
    t.ok(verdicts.every(({ waitMs }) => waitMs > 0 && waitMs <= 1000))
  })

  t.test('of charges that come at once the first ones get in, in the order they came', async t => {
    const { limiter } = await open(t)
    const charge = newCharge(10)

    const verdicts = await Promise.all(Array.from({ length: 30 }, () => limiter.charge(charge)))

    t.same(verdicts.map(allowed), [...Array(10).fill(true), ...Array(20).fill(false)])
    t.same(verdicts.map(remaining), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, ...Array(20).fill(0)])
  })

  t.test('whoever waits as told gets in, when alone', async t => {
    const { limiter, elapse } = await open(t)
    const charge = newCharge(3)
    for (let i = 0; i < 3; i++) {
      await limiter.charge(charge)
      await elapse(200)
    }
    for (let round = 0; round < 3; round++) {
      const refused = await limiter.charge(charge)
      t.equal(refused.allowed, false)

      await elapse(refused.waitMs)

      t.equal((await limiter.charge(charge)).allowed, true)
    }
  })

  t.test('a client over its limit is no matter to another, nor to its other counters', async t => {
    const { limiter } = await open(t)
    const greedy = newCharge(2)
    await Promise.all(Array.from({ length: 50 }, () => limiter.charge(greedy)))

    t.equal((await limiter.charge(newCharge(2))).allowed, true)
    t.equal((await limiter.charge({ ...greedy, key: `${greedy.key} other` })).allowed, true)
    t.equal((await limiter.charge(greedy)).allowed, false)
  })

  t.test('a burst at the end of the first window does not get a second one at its turn', async t => {
    const { limiter, elapse, nowMs } = await open(t)
    const charge = newCharge(20)
    const seen: SeenAdmission[] = []
    const burst = async (count: number): Promise<void> => {
      await Promise.all(Array.from({ length: count }, () => chargeSeen(limiter, charge, nowMs, seen)))
    }

    await burst(1)
    await elapse(900)
    await burst(40)
    await elapse(150)
    await burst(40)

    t.ok(seen.length >= 20)
    t.ok(mostCertainInAnyWindow(seen, charge.windowMs) <= 20)
    t.ok(seen.length <= 21, 'only the place of the very first has come free')
  })

  t.test('a limit too large for a log of every admission still holds', async t => {
    const { limiter, elapse } = await open(t)
    const charge = newCharge(3000)

    const first = await Promise.all(Array.from({ length: 4000 }, () => limiter.charge(charge)))
    await elapse(500)
    const early = await limiter.charge(charge)
    await elapse(early.waitMs)
    const late = await limiter.charge(charge)

    t.equal(first.filter(allowed).length, 3000)
    t.equal(early.allowed, false)
    t.equal(late.allowed, true)
  })
}

const allowed = (verdict: Verdict): boolean => verdict.allowed
const remaining = (verdict: Verdict): number => verdict.remaining

const inTurn = async <Answer>(times: number, ask: () => Answer | Promise<Answer>): Promise<Answer[]> => {
  const answers: Answer[] = []
  for (let i = 0; i < times; i++) answers.push(await ask())
  return answers
}

const chargeSeen = async (
  limiter: Limiter,
  charge: Charge,
  nowMs: () => number,
  seen: SeenAdmission[],
): Promise<void> => {
  const sentAtMs = nowMs()
  const verdict = await limiter.charge(charge)
  if (verdict.allowed) seen.push({ sentAtMs, answeredAtMs: nowMs() })
}
