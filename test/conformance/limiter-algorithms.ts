import type { Test } from 'tap'
import type { Algorithm, Charge } from '../../src/stores/ports/limiter.ts'
import { newCharge } from '../support/charges.ts'
import type { LimiterUnderTest } from './limiters.ts'
import { mostCertainInAnyWindow, mostCertainInCalendarWindow, type SeenAdmission } from './oracle.ts'

const limit = 100
const burst = 10
const windowMs = 1000
const lastsMs = 2500

const algorithms: readonly Algorithm[] = ['strict', 'smooth', 'calendar']

/** The maximum number of admissions of each algorithm in any window. */
const mostInWindow: Readonly<Record<Algorithm, number>> = {
  strict: limit,
  smooth: limit + burst - 1,
  calendar: 2 * limit,
}

/** The promises of each algorithm, for one adapter; every algorithm gets the same load. */
export const testAlgorithms = (t: Test, open: (t: Test) => Promise<LimiterUnderTest>): void => {
  t.test('each algorithm admits exactly its limit when a client offers twice as much', async t => {
    const under = await open(t)

    const runs = await offerAll(under, 2 * limit)

    for (const [algorithm, { admissions }] of runs) {
      const most = mostCertainInAnyWindow(admissions, windowMs)
      t.ok(most <= mostInWindow[algorithm], `${algorithm}: ${most} in one window`)
      const least = 0.97 * limit * (lastsMs / 1000)
      t.ok(admissions.length >= least, `${algorithm}: ${admissions.length} in all`)
    }
    t.ok((runs.get('smooth')?.admissions.length ?? 0) <= limit * (lastsMs / 1000) + burst + slack)
    t.ok(mostCertainInCalendarWindow(runs.get('calendar')?.admissions ?? [], windowMs) <= limit)
  })

  t.test('no algorithm refuses a client that evenly offers 95 % of its limit', async t => {
    const under = await open(t)

    const runs = await offerAll(under, 0.95 * limit)

    for (const [algorithm, { refused }] of runs) t.equal(refused, 0, algorithm)
  })

  for (const algorithm of algorithms)
    t.test(`${algorithm}: a client that waits for the stated time is admitted every time, if it is alone`, async t => {
      const { limiter, elapse } = await open(t)
      const charge = newCharge(4, { algorithm, burst: 2, windowMs: 500 })

      for (let times = 0; times < 3; times++) {
        let verdict = await limiter.charge(charge)
        for (let i = 0; i < 8 && verdict.allowed; i++) verdict = await limiter.charge(charge)
        t.equal(verdict.allowed, false)
        t.equal(verdict.rules[0]?.remaining, 0)
        await elapse(verdict.waitMs)

        t.equal((await limiter.charge(charge)).allowed, true)
      }
    })

  t.test('each algorithm returns the remaining number of admissions', async t => {
    const under = await open(t)

    const left = await undisturbed(under, async charges => {
      const states: number[][] = []
      for (let i = 0; i < 4; i++) {
        const verdicts = await Promise.all(charges.map(charge => under.limiter.charge(charge)))
        states.push(verdicts.map(({ rules }) => rules[0]?.remaining ?? -1))
      }
      return states
    })

    t.same(left, [
      [2, 1, 2],
      [1, 0, 1],
      [0, 0, 0],
      [0, 0, 0],
    ])
  })
}

/** The maximum number of admissions that a run over real time may count too many at its ends. */
const slack = 5

interface Run {
  readonly admissions: readonly SeenAdmission[]
  readonly refused: number
}

/** The time in which a disturbed run is started again, in milliseconds of real time. */
const patienceMs = 40_000

/**
 * Charges every algorithm this often a second, evenly, with no two charges closer together than that. Repeats the run
 * if a busy machine stalled during it, or if a process that stalled decided locally.
 */
const offerAll = async (under: LimiterUnderTest, perSec: number): Promise<ReadonlyMap<Algorithm, Run>> => {
  const deadlineMs = performance.now() + patienceMs
  for (;;) {
    const runs = await offerOnce(under, perSec)
    if (runs) return runs
    if (performance.now() > deadlineMs) throw new Error('no run was undisturbed: this machine is too busy')
  }
}

/** Undefined as soon as the run is disturbed. */
const offerOnce = async (under: LimiterUnderTest, perSec: number): Promise<ReadonlyMap<Algorithm, Run> | undefined> => {
  const runs = algorithms.map(algorithm => ({
    algorithm,
    charge: newCharge(limit, { algorithm, burst }),
    admissions: [] as SeenAdmission[],
    refused: 0,
  }))
  const startedAtMs = under.nowMs()
  for (let lastMs = startedAtMs; lastMs < startedAtMs + lastsMs; ) {
    await under.elapse(Math.max(0, lastMs + 1000 / perSec - under.nowMs()))
    const sentAtMs = under.nowMs()
    if (sentAtMs - lastMs > stallMs) return undefined
    lastMs = sentAtMs
    const verdicts = await Promise.all(runs.map(({ charge }) => under.limiter.charge(charge)))
    if (verdicts.some(({ source }) => source !== 'store')) return undefined
    const seen = { sentAtMs, answeredAtMs: under.nowMs() }
    for (const [place, run] of runs.entries())
      if (verdicts[place]?.allowed) run.admissions.push(seen)
      else run.refused++
  }
  return new Map(runs.map(run => [run.algorithm, run]))
}

/** After a longer pause `smooth` has its whole burst again, and the admissions of the remaining time would be lost. */
const stallMs = 0.8 * ((1000 * burst) / limit)

/** Runs a scenario on new counters of three a second, two at once; repeats it if a window ended in the middle of it. */
const undisturbed = async <T>(
  under: LimiterUnderTest,
  scenario: (charges: readonly Charge[]) => Promise<T>,
): Promise<T> => {
  for (let tries = 5; ; tries--) {
    // Just after the start of a calendar second.
    await under.elapse(windowMs - (under.nowMs() % windowMs) + 20)
    const startedAtMs = under.nowMs()
    const result = await scenario(algorithms.map(algorithm => newCharge(3, { algorithm, burst: 2 })))
    if (under.nowMs() - startedAtMs < 300 || tries === 1) return result
  }
}
