import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet } from './fleet.ts'
import { generate, type Job } from './generator.ts'
import { type Judgement, judge } from './judgement.ts'
import { plan } from './plan.ts'
import { outageMs, type Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'
import { nowMs } from './trace.ts'

/** What came of one scenario. */
export interface Row {
  readonly scenario: Scenario
  readonly sidegate: Judgement
  readonly competitor: Judgement
  /** Sidegate's workers decided some of it by themselves, for want of Redis. */
  readonly isLocal: boolean
}

/** From the call to the first request at least, in milliseconds: connections are opened meanwhile. */
const leadMs = 400

/** Most requests under way; in a flood as many as `npm run bench` has connections, for then they are always used up. */
const mostUnderWay = { usually: 512, inFlood: 64 } as const

/** Plays a scenario to both programs. */
export const run = async (stage: Stage, scenario: Scenario, durationSec: number, signal: AbortSignal): Promise<Row> => {
  const lastsMs = durationSec * 1000 + (scenario.isOutage ? outageMs : 0)
  const sends = scenario.traffic(lastsMs)
  const playTo = async (fleet: Fleet, startAtMs: number): Promise<Judgement> => {
    const cap = scenario.isFlood ? mostUnderWay.inFlood : mostUnderWay.usually
    const job: Job = { urls: fleet.urls, sends, startAtMs, endAtMs: startAtMs + lastsMs, mostUnderWay: cap, signal }
    return judge(await generate(job), plan)
  }
  const localBefore = await stage.sidegate.countLocal()
  const [sidegate, competitor] = scenario.isFlood
    ? [await playTo(stage.sidegate, nextTurnMs()), await playTo(stage.competitor, nextTurnMs())]
    : await playTogether(stage, scenario, playTo)
  return { scenario, sidegate, competitor, isLocal: (await stage.sidegate.countLocal()) > localBefore }
}

const playTogether = async (
  stage: Stage,
  { disturb }: Scenario,
  playTo: (fleet: Fleet, startAtMs: number) => Promise<Judgement>,
): Promise<[Judgement, Judgement]> => {
  const startAtMs = nextTurnMs()
  const disturbance = async (): Promise<void> => {
    await sleep(startAtMs - nowMs())
    await disturb?.(stage)
  }
  const done = [playTo(stage.sidegate, startAtMs), playTo(stage.competitor, startAtMs), disturbance()] as const
  // All have ended before the stage is closed, whatever fails.
  await Promise.allSettled(done)
  const [sidegate, competitor] = await Promise.all(done)
  return [sidegate, competitor]
}

/** The instant of a turn of the second by the machine's clock, soon. */
const nextTurnMs = (): number => {
  const earliest = Date.now() + leadMs
  return nowMs() + leadMs + (1000 - (earliest % 1000))
}
