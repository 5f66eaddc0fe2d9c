import type { Charge, Limiter, Verdict } from '../ports.ts'
import { createDenyCache } from './deny-cache.ts'
import { type AwayOptions, createLocalShare } from './local-share.ts'
import { type Count, createSlidingLogs, type Decision, type MonotonicClock, monotonicClock } from './sliding-log.ts'
import { settleTogether, type Waiter } from './verdicts.ts'

/**
 * Plan limits of all workers of a machine, for the embedded store: one process keeps the logs (`createLimiterService`),
 * the others ask it (`createSharedLimiter`). Only plain data crosses between them.
 */

/** The charges of one key that came in one turn of a worker's event loop. */
export interface BatchedCharge extends Count {
  readonly count: number
}

/** Granted in part, to those who came first. */
export type BatchedVerdict = Decision

/** Brings charges to the process that counts, and its verdicts back in the same order. */
export type LimiterChannel = (charges: readonly BatchedCharge[]) => Promise<readonly BatchedVerdict[]>

/** The counting side. */
export const createLimiterService = (
  clock: MonotonicClock = monotonicClock,
): ((charges: readonly BatchedCharge[]) => readonly BatchedVerdict[]) => {
  const logs = createSlidingLogs(clock)
  return charges => charges.map(charge => logs.decide(charge, charge.count))
}

/** Longest wait for the counting process, in milliseconds. */
const patienceMs = 100

/** How long charges are decided locally before the counting process is asked again, in milliseconds. */
const pauseMs = 200

interface Group {
  readonly charge: Charge
  readonly waiters: Waiter[]
}

/** The asking side: all charges of one turn of the event loop go in one message. */
export const createSharedLimiter = (ask: LimiterChannel, options: AwayOptions): Limiter => {
  const clock = options.clock ?? monotonicClock
  const denied = createDenyCache(clock)
  const local = createLocalShare(options.share, clock)
  let batch = new Map<string, Group>()
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  let isUp = true

  const setState = (up: boolean, error?: Error): void => {
    pausedUntilMs = up ? Number.NEGATIVE_INFINITY : clock.nowMs() + pauseMs
    if (up === isUp) return
    isUp = up
    options.onStateChange(up, error)
  }
  const send = async (): Promise<void> => {
    const groups = [...batch.values()]
    batch = new Map()
    const sentAtMs = clock.nowMs()
    try {
      const verdicts = await withPatience(askAbout(groups), () => setState(true))
      setState(true)
      for (const [index, group] of groups.entries()) settle(group, verdicts[index] ?? nothing, sentAtMs)
    } catch (error) {
      setState(false, error instanceof Error ? error : new Error(String(error)))
      for (const { charge, waiters } of groups) for (const waiter of waiters) waiter(local.decide(charge))
    }
  }
  const askAbout = async (groups: readonly Group[]): Promise<readonly BatchedVerdict[]> =>
    ask(
      groups.map(({ charge: { key, limit, windowMs }, waiters }) => ({ key, limit, windowMs, count: waiters.length })),
    )
  const settle = ({ charge, waiters }: Group, decision: Decision, sentAtMs: number): void => {
    local.record(charge, decision.granted)
    if (decision.remaining === 0) denied.remember(charge, sentAtMs, decision.waitMs)
    settleTogether(waiters, decision, charge.windowMs)
  }
  const gather = (charge: Charge): Promise<Verdict> =>
    new Promise(resolve => {
      const group = batch.get(charge.key)
      if (group) return void group.waiters.push(resolve)
      if (batch.size === 0) setImmediate(send)
      batch.set(charge.key, { charge, waiters: [resolve] })
    })

  return {
    charge: charge => {
      const refusal = denied.find(charge)
      if (refusal) return refusal
      return clock.nowMs() < pausedUntilMs ? local.decide(charge) : gather(charge)
    },
    close: async () => undefined,
  }
}

const nothing: Decision = { granted: 0, remaining: 0, waitMs: 1 }

/** The answer, or an error when it takes too long; `onLate` when it comes after that. */
const withPatience = <Answer>(answer: Promise<Answer>, onLate: () => void): Promise<Answer> =>
  new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      reject(new Error(`the primary process did not answer within ${patienceMs} ms`))
    }, patienceMs)
    answer.then(value => {
      clearTimeout(timer)
      if (isLate) onLate()
      else resolve(value)
    }, reject)
  })
