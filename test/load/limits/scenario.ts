import { setTimeout as sleep } from 'node:timers/promises'
import { plan } from './plan.ts'
import type { Place, Stage } from './stage.ts'
import { burst, byZipf, evenly, inOrder, type Send } from './traffic.ts'

/** One row of the table: the load, and the fault during it. Runs begin at the turn of a second by the clock. */
export interface Scenario {
  readonly name: string
  readonly title: string
  /** Default `near`. */
  readonly place?: Place
  readonly traffic: (lastsMs: number) => readonly Send[]
  /** Begins with the run. */
  readonly disturb?: (stage: Stage) => Promise<void>
  /** The successive limits of the plan, by changes of the configuration. The run lasts as long again for each. */
  readonly reloads?: readonly number[]
  /** Redis is away for a time: up to one window's limit more is promised then. */
  readonly isOutage?: boolean
  /** So much longer than others the run lasts, in milliseconds. */
  readonly longerMs?: number
  /** As much as the machine can do: the two programs are not run at once, but one after the other. */
  readonly isFlood?: boolean
}

const { limit, windowMs } = plan

/** At so many times the plan, evenly. */
const uniform = (name: string, times: number): Scenario => ({
  name,
  title: `${times} × the plan, evenly`,
  traffic: lastsMs => evenly(name, times * limit, lastsMs),
})

/** Twice the plan while something goes wrong. */
const disturbed = (
  name: string,
  title: string,
  disturb: Scenario['disturb'],
  rest: Partial<Scenario> = {},
): Scenario => ({
  ...uniform(name, 2),
  title,
  ...(disturb && { disturb }),
  ...rest,
})

/** How long all is well before something goes wrong, in milliseconds. */
const calmMs = 1000

/** How long Redis is away, in milliseconds. */
const outageMs = 2000

/** The extra time of a run in which Redis is unavailable. */
const outage = { isOutage: true, longerMs: outageMs } as const

/** How long pods take to be replaced at most, on a small machine that serves meanwhile, in milliseconds. */
const growthMs = 12_000

/** How long a run lasts, in milliseconds. @param durationMs of one in which nothing takes time */
export const lengthMs = ({ reloads = [], longerMs = 0 }: Scenario, durationMs: number): number =>
  durationMs * (1 + reloads.length) + longerMs

/** A whole plan just before the turn of each second, and another just after; each second another client. */
const aroundSeconds = (lastsMs: number): readonly Send[] =>
  inOrder(
    turnsWithin(1000, 1000, lastsMs - 50).map((turnMs, i) => [
      ...burst(`edges-${i}`, limit, turnMs - 40, turnMs - 1),
      ...burst(`edges-${i}`, limit, turnMs, turnMs + 40),
    ]),
  )

/**
 * One request, then as many as fit until 1 ms before its window ends, and as many 1 ms after that, for another client
 * each time.
 */
const aroundFirstWindow = (lastsMs: number): readonly Send[] =>
  inOrder(
    turnsWithin(windowMs, 250, lastsMs - 50).map((turnMs, i) => [
      ...burst(`window-${i}`, 1, turnMs - windowMs, turnMs - windowMs),
      ...burst(`window-${i}`, limit - 1, turnMs - 40, turnMs - 1),
      ...burst(`window-${i}`, limit, turnMs + 1, turnMs + 40),
    ]),
  )

const turnsWithin = (firstMs: number, everyMs: number, lastMs: number): readonly number[] =>
  Array.from({ length: Math.floor((lastMs - firstMs) / everyMs) + 1 }, (_, i) => firstMs + i * everyMs)

const killRedis = async ({ redises }: Stage): Promise<void> => {
  await sleep(calmMs)
  await redises.primary.kill()
  await sleep(outageMs)
  await redises.primary.start()
}

const pauseRedis = async ({ redises }: Stage): Promise<void> => {
  await sleep(calmMs)
  await redises.primary.client.client('PAUSE', outageMs)
}

const flushScripts = async ({ redises }: Stage): Promise<void> => {
  for (let times = 0; times < 5; times++) {
    await sleep(calmMs / 2)
    await redises.primary.client.script('FLUSH')
  }
}

/** The replica is cut off before the primary dies: it never hears of the last 300 ms. */
const failOver = async ({ redises }: Stage): Promise<void> => {
  await sleep(calmMs)
  redises.replica?.pause()
  await redises.primary.client.client('KILL', 'TYPE', 'REPLICA')
  await sleep(300)
  await redises.primary.kill()
  redises.replica?.resume()
}

const killWorkers = async ({ sidegate, competitor }: Stage): Promise<void> => {
  await sleep(calmMs)
  sidegate.killWorker()
  competitor.killWorker()
}

const growPods = async ({ sidegate, competitor }: Stage): Promise<void> => {
  await sleep(calmMs)
  await Promise.all([sidegate.grow(), competitor.grow()])
}

/** All scenarios, in the order of the table. */
export const scenarios: readonly Scenario[] = [
  uniform('half', 0.5),
  uniform('near', 0.95),
  uniform('double', 2),
  uniform('tenfold', 10),
  { ...uniform('flood', 500), isFlood: true },
  { name: 'edges', title: 'a plan before and after each turn of the second', traffic: aroundSeconds },
  { name: 'window', title: 'a plan 1 ms before and after the first window ends', traffic: aroundFirstWindow },
  {
    name: 'zipf',
    title: '1,000 clients by Zipf, 15 × the plan in all',
    traffic: lastsMs =>
      byZipf(
        Array.from({ length: 1000 }, (_, i) => `zipf-${i}`),
        15 * limit,
        lastsMs,
      ),
  },
  disturbed('flush', '2 ×, SCRIPT FLUSH every half second', flushScripts),
  disturbed('worker', '2 ×, a worker is killed', killWorkers),
  disturbed('pause', '2 ×, Redis is silent for 2 s', pauseRedis, outage),
  disturbed('kill', '2 ×, Redis is killed and comes back empty after 2 s', killRedis, outage),
  { ...uniform('reload', 4), reloads: [limit / 2, 2 * limit] },
  // The last in its place: what comes after it would have other pods.
  disturbed('grow', '2 ×, each pod replaced by one with twice the workers', growPods, { longerMs: growthMs }),
  disturbed('far', '2 ×, Redis is 20 ms away', undefined, { place: 'far' }),
  disturbed('clock', '2 ×, clocks of pods are 5 s fast and slow', undefined, { place: 'skewed' }),
  disturbed('failover', '2 ×, failover that loses the last 300 ms', failOver, { place: 'watched', ...outage }),
]
