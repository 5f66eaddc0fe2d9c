import type { Test } from 'tap'
import type { Charge, Limiter, Rule, Verdict } from '../../src/stores/ports/limiter.ts'
import { chargeBy, newCharge, newRule } from '../support/charges.ts'
import { testAlgorithms } from './limiter-algorithms.ts'
import { mostCertainInAnyWindow, type SeenAdmission } from './oracle.ts'

/** The parts of a limiter that the suite needs. */
export interface LimiterUnderTest {
  readonly limiter: Limiter
  /** Milliseconds since 1970 by a clock that never goes back and that `elapse` moves. */
  nowMs(): number
  /** Lets at least this many milliseconds pass. */
  elapse(ms: number): Promise<void>
}

type Open = (t: Test) => Promise<LimiterUnderTest>

/** Every promise of `Limiter` while its store is reachable, for one adapter. */
export const testLimiter = (t: Test, open: Open): void => {
  t.test('admits exactly the limit, and counts down the remaining number', async t => {
    const under = await open(t)

    const verdicts = await undisturbed(under, 5, 900, charge => inTurn(6, () => under.limiter.charge(charge)))

    t.same(verdicts.map(allowed), [true, true, true, true, true, false])
    t.same(verdicts.map(remaining), [4, 3, 2, 1, 0, 0])
    t.ok(verdicts.every(({ source }) => source === 'store'))
    t.ok(verdicts.every(({ rules }) => rules.every(({ waitMs }) => waitMs > 0 && waitMs <= 1000)))
    t.same(
      verdicts.map(({ waitMs }) => waitMs > 0),
      [false, false, false, false, true, true],
    )
  })

  t.test('of simultaneous charges the first ones are admitted, in the order of their arrival', async t => {
    const under = await open(t)

    const verdicts = await undisturbed(under, 10, 900, charge => atOnce(30, () => under.limiter.charge(charge)))

    t.same(verdicts.map(allowed), [...Array(10).fill(true), ...Array(20).fill(false)])
    t.same(verdicts.map(remaining), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, ...Array(20).fill(0)])
  })

  t.test('a client that waits for the stated time is admitted if it is alone', async t => {
    const under = await open(t)

    const verdicts = await undisturbed(under, 3, 1550, async charge => {
      const filling = await inTurn(3, async () => {
        const verdict = await under.limiter.charge(charge)
        await under.elapse(200)
        return verdict
      })
      const asTold = await inTurn(3, async () => {
        const refused = await under.limiter.charge(charge)
        await under.elapse(refused.waitMs)
        return [refused, await under.limiter.charge(charge)]
      })
      return [...filling, ...asTold.flat()]
    })

    t.same(verdicts.map(allowed), [true, true, true, false, true, false, true, false, true])
  })

  t.test('a client over its limit affects neither another client nor its own other counters', async t => {
    const under = await open(t)
    const { limiter } = under

    const verdicts = await undisturbed(under, 2, 900, async greedy => {
      await atOnce(50, () => limiter.charge(greedy))
      const other = await limiter.charge(newCharge(2))
      const otherCounter = await limiter.charge({ ...greedy, rules: [newRule(2, { counter: 'other' })] })
      return [other, otherCounter, await limiter.charge(greedy)]
    })

    t.same(verdicts.map(allowed), [true, true, false])
  })

  t.test('after a burst at the end of a window no second burst is admitted at the start of the next one', async t => {
    const under = await open(t)
    let seen: SeenAdmission[] = []

    await undisturbed(under, 20, 1850, async charge => {
      seen = []
      const burst = (count: number): Promise<readonly Verdict[]> =>
        atOnce(count, () => chargeSeen(under.limiter, charge, under.nowMs, seen))
      const first = await burst(1)
      await under.elapse(900)
      const second = await burst(40)
      await under.elapse(150)
      return [...first, ...second, ...(await burst(40))]
    })

    t.ok(seen.length >= 20)
    t.ok(mostCertainInAnyWindow(seen, 1000) <= 20)
    t.ok(seen.length <= 21, 'only the first admission has expired')
  })

  t.test('a limit that is too large for a log of every admission is kept', async t => {
    const under = await open(t)
    const { limiter } = under

    const early = await undisturbed(under, 3000, 900, async charge => [
      ...(await atOnce(4000, () => limiter.charge(charge))),
      await limiter.charge(charge),
    ])

    t.equal(early.filter(allowed).length, 3000)
    t.equal(early.at(-1)?.allowed, false)
  })

  t.test('an admission in a large log expires at the stated time', async t => {
    const { limiter, elapse } = await open(t)
    const charge = newCharge(3000)
    await atOnce(4000, () => limiter.charge(charge))
    const refused = await limiter.charge(charge)

    await elapse(refused.waitMs)

    t.equal((await limiter.charge(charge)).allowed, true)
  })

  testSeveralRules(t, open)
  testSoftRules(t, open)
  testAlgorithms(t, open)
}

const testSeveralRules = (t: Test, open: Open): void => {
  t.test('a request that one rule refuses is not charged to another rule', async t => {
    const under = await open(t)
    const rules = [newRule(3), newRule(5, { counter: 'quota', windowMs: 60_000 })]

    const verdicts = await undisturbed(under, rules, 1900, async charge => {
      const first = await atOnce(20, () => under.limiter.charge(charge))
      await under.elapse(1000)
      return [...first, ...(await inTurn(4, () => under.limiter.charge(charge)))]
    })

    t.same(verdicts.map(allowed), [...Array(3).fill(true), ...Array(17).fill(false), true, true, false, false])
    const [rate, quota] = verdicts.at(-1)?.rules ?? []
    t.equal(rate?.remaining, 1, 'the quota refuses, and the rate is not charged')
    t.equal(quota?.remaining, 0)
    t.ok((quota?.waitMs ?? 0) > 50_000)
    t.equal(verdicts.at(-1)?.waitMs, quota?.waitMs, 'the wait is for the rule that refuses')
  })

  t.test('of simultaneous charges as many are admitted as every rule allows', async t => {
    const under = await open(t)
    const rules = [newRule(10), newRule(100, { counter: 'smooth', algorithm: 'smooth', burst: 4 })]

    const verdicts = await undisturbed(under, rules, 9, charge => atOnce(30, () => under.limiter.charge(charge)))

    t.same(verdicts.map(allowed), [...Array(4).fill(true), ...Array(26).fill(false)])
    t.same(verdicts.map(remaining).slice(0, 6), [9, 8, 7, 6, 6, 6])
  })

  t.test('charges share only the counters that they have in common', async t => {
    const under = await open(t)
    const quota = newRule(5, { counter: 'quota' })
    const ownRules = [newRule(2, { counter: 'own' }), quota]

    const verdicts = await undisturbed(under, [newRule(2), quota], 900, async charge => {
      const own = { ...charge, rules: ownRules }
      return [
        ...(await inTurn(3, () => under.limiter.charge(own))),
        ...(await inTurn(3, () => under.limiter.charge(charge))),
      ]
    })

    t.same(verdicts.map(allowed), [true, true, false, true, true, false])
    t.same(
      verdicts.map(({ rules }) => rules[1]?.remaining),
      [4, 3, 3, 2, 1, 1],
    )
  })
}

const testSoftRules = (t: Test, open: Open): void => {
  t.test('a soft rule refuses no request, and reports the requests that it would have refused', async t => {
    const under = await open(t)

    const verdicts = await undisturbed(under, [newRule(3, { mode: 'soft' })], 900, charge =>
      atOnce(5, () => under.limiter.charge(charge)),
    )

    t.ok(verdicts.every(allowed))
    t.same(verdicts.map(remaining), [2, 1, 0, 0, 0])
    t.same(verdicts.map(shadowDenied), [false, false, false, true, true])
    t.ok(verdicts.every(({ waitMs }) => waitMs === 0))
  })

  t.test('a hard rule beside a soft rule still refuses, and the soft rule then counts nothing', async t => {
    const under = await open(t)
    const rules = [newRule(4, { mode: 'soft' }), newRule(2, { counter: 'burst', windowMs: 300 })]

    const verdicts = await undisturbed(under, rules, 900, async charge => {
      const first = await inTurn(3, () => under.limiter.charge(charge))
      await under.elapse(301)
      const second = await inTurn(2, () => under.limiter.charge(charge))
      await under.elapse(301)
      return [...first, ...second, await under.limiter.charge(charge)]
    })

    t.same(verdicts.map(allowed), [true, true, false, true, true, true])
    t.same(verdicts.map(remaining), [3, 2, 2, 1, 0, 0])
    t.same(verdicts.map(shadowDenied), [false, false, false, false, false, true])
  })
}

/**
 * Runs a scenario on a new counter. Repeats it if a busy machine made the run meaningless: the run took longer than its
 * window, or a process that stalled decided locally. The last run counts.
 */
const undisturbed = async (
  { nowMs, elapse }: LimiterUnderTest,
  limits: number | readonly Rule[],
  withinMs: number,
  scenario: (charge: Charge) => Promise<readonly Verdict[]>,
): Promise<readonly Verdict[]> => {
  for (let tries = 5; ; tries--) {
    const startedAtMs = nowMs()
    const verdicts = await scenario(typeof limits === 'number' ? newCharge(limits) : chargeBy(...limits))
    const isTelling = nowMs() - startedAtMs <= withinMs && verdicts.every(({ source }) => source === 'store')
    if (isTelling || tries === 1) return verdicts
    await elapse(300)
  }
}

const atOnce = <T>(count: number, charge: () => T | Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, charge))

const allowed = (verdict: Verdict): boolean => verdict.allowed
const shadowDenied = (verdict: Verdict): boolean => verdict.shadowDenied
const remaining = ({ rules }: Verdict): number | undefined => rules[0]?.remaining

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
): Promise<Verdict> => {
  const sentAtMs = nowMs()
  const verdict = await limiter.charge(charge)
  if (verdict.allowed) seen.push({ sentAtMs, answeredAtMs: nowMs() })
  return verdict
}
