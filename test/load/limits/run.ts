import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet } from './fleet.ts'
import { generate, type Job } from './generator.ts'
import { type JudgedPhase, judgePhases, playPhases } from './phases.ts'
import { plan } from './plan.ts'
import { lengthMs, type Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'
import { nowMs } from './trace.ts'

/** The result of one scenario, or of one phase if the plan changes in it. */
export interface Row {
  readonly scenario: Scenario
  /** The limit of the plan, and that of the phase before. */
  readonly limit: number
  readonly limitBefore?: number
  readonly sidegate: JudgedPhase
  readonly competitor: JudgedPhase
  /** Sidegate's workers decided some of it by themselves, for want of Redis. */
  readonly isLocal: boolean
}

/** From the call to the first request at least, in milliseconds: connections are opened meanwhile. */
const leadMs = 400

/** Most requests under way; in a flood as many as `npm run bench` has connections, for then they are always used up. */
const mostUnderWay = { usually: 512, inFlood: 64 } as const

/** A fleet plays a scenario that begins then. */
type Play = (fleet: Fleet, startAtMs: number) => Promise<readonly JudgedPhase[]>

/** Plays a scenario to both programs. @returns a row for each phase */
export const run = async (
  stage: Stage,
  scenario: Scenario,
  durationSec: number,
  signal: AbortSignal,
): Promise<readonly Row[]> => {
  const phaseMs = durationSec * 1000
  const lastsMs = lengthMs(scenario, phaseMs)
  const sends = scenario.traffic(lastsMs)
  const play: Play = async (fleet, startAtMs) => {
    const cap = scenario.isFlood ? mostUnderWay.inFlood : mostUnderWay.usually
    const job: Job = { urls: fleet.urls, sends, startAtMs, endAtMs: startAtMs + lastsMs, mostUnderWay: cap, signal }
    const phases = playPhases(fleet, scenario.reloads ?? [], { startAtMs, phaseMs, signal })
    const [answers] = await allDone([generate(job), phases])
    return judgePhases(answers, await phases)
  }
  const localBefore = await stage.sidegate.countLocal()
  const [sidegate, competitor] = scenario.isFlood
    ? [await play(stage.sidegate, nextTurnMs()), await play(stage.competitor, nextTurnMs())]
    : await playTogether(stage, scenario, lastsMs, play)
  const isLocal = (await stage.sidegate.countLocal()) > localBefore
  if (scenario.reloads)
    await Promise.all([stage.sidegate, stage.competitor].map(fleet => fleet.changeLimit(plan.limit)))
  return toRows(scenario, sidegate, competitor, isLocal)
}

const toRows = (
  scenario: Scenario,
  sidegate: readonly JudgedPhase[],
  competitor: readonly JudgedPhase[],
  isLocal: boolean,
): readonly Row[] => {
  const limits = [plan.limit, ...(scenario.reloads ?? [])]
  return limits.flatMap((limit, nth) => {
    const [ours, theirs, limitBefore] = [sidegate[nth], competitor[nth], limits[nth - 1]]
    if (ours === undefined || theirs === undefined) return []
    return { scenario, limit, ...(limitBefore && { limitBefore }), sidegate: ours, competitor: theirs, isLocal }
  })
}

const playTogether = async (
  stage: Stage,
  { name, disturb, longerMs }: Scenario,
  lastsMs: number,
  play: Play,
): Promise<[readonly JudgedPhase[], readonly JudgedPhase[]]> => {
  const startAtMs = nextTurnMs()
  const disturbance = async (): Promise<void> => {
    await sleep(startAtMs - nowMs())
    await disturb?.(stage)
    // A run that is longer for it has to outlast it.
    const isLate = longerMs !== undefined && nowMs() > startAtMs + lastsMs
    if (isLate) throw new Error(`${name}: what was to go wrong took longer than the run`)
  }
  const [sidegate, competitor] = await allDone([
    play(stage.sidegate, startAtMs),
    play(stage.competitor, startAtMs),
    disturbance(),
  ])
  return [sidegate, competitor]
}

/** As `Promise.all`, but all have ended when it fails: only then may the stage be closed. */
const allDone = async <T extends readonly unknown[]>(
  promises: { readonly [K in keyof T]: Promise<T[K]> },
): Promise<T> => {
  await Promise.allSettled(promises)
  return (await Promise.all(promises)) as unknown as T
}

/** The instant of a turn of the second by the machine's clock, soon. */
const nextTurnMs = (): number => {
  const earliest = Date.now() + leadMs
  return nowMs() + leadMs + (1000 - (earliest % 1000))
}
