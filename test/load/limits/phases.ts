import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet } from './fleet.ts'
import { type Judgement, judge, mostOfOne, type Span, sentWithin } from './judgement.ts'
import { plan } from './plan.ts'
import { type Answer, nowMs } from './trace.ts'

/** A time in which the plan said one thing. */
export interface Phase extends Span {
  readonly limit: number
}

/** The result of a phase. */
export interface JudgedPhase {
  readonly judgement: Judgement
  /**
   * The most requests of one client within one window of this phase, the one before and the change between; undefined
   * in the first.
   */
  readonly mostAround?: number
}

/**
 * Changes the plan of a fleet, each time after a while, and reports the phases that result.
 * @param limits the successive limits of the plan; without any, the whole run is one phase
 */
export const playPhases = async (
  fleet: Fleet,
  limits: readonly number[],
  run: { readonly startAtMs: number; readonly phaseMs: number; readonly signal: AbortSignal },
): Promise<readonly Phase[]> => {
  const phases: Phase[] = []
  let limit: number = plan.limit
  let [beginsAtMs, settledAtMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const [nth, next] of limits.entries()) {
    await sleep(run.startAtMs + (nth + 1) * run.phaseMs - nowMs(), undefined, { signal: run.signal })
    const askedAtMs = nowMs()
    phases.push({ limit, beginsAtMs, settledAtMs, endsAtMs: askedAtMs })
    await fleet.changeLimit(next)
    limit = next
    beginsAtMs = askedAtMs
    settledAtMs = nowMs()
  }
  return [...phases, { limit, beginsAtMs, settledAtMs, endsAtMs: Number.POSITIVE_INFINITY }]
}

/** Holds each phase of a run against its own limit. */
export const judgePhases = (answers: readonly Answer[], phases: readonly Phase[]): readonly JudgedPhase[] =>
  phases.map((phase, nth) => {
    const judgement = judge(answers, { limit: phase.limit, windowMs: plan.windowMs }, phase)
    const before = phases[nth - 1]
    if (before === undefined) return { judgement }
    const around = sentWithin(answers, before.settledAtMs, phase.endsAtMs)
    return { judgement, mostAround: mostOfOne(around, plan.windowMs) }
  })
