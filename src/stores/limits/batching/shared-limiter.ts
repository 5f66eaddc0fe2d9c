import { type MonotonicClock, monotonicClock } from '../../../clock.ts'
import type { Charge, Limiter, Verdict } from '../../ports/limiter.ts'
import { type Count, createCounters, type Decision } from '../counters.ts'
import { createLocalFallback, type OutageOptions } from '../local-fallback.ts'
import type { ChargeBatch } from './charge-batch.ts'
import { createChargeBatches } from './charge-batches.ts'
import type { PendingDecision } from './pending-decisions.ts'

/**
 * Plan limits of all workers of a machine, for the embedded store. One process keeps the counters
 * (`createLimiterService`) and the others call it (`createSharedLimiter`). Only plain data is sent between them.
 */

/** The charges with the same key and rules that came in one turn of a worker's event loop. */
export interface BatchedCharge extends Count {
  readonly count: number
}

/** May be granted in part, to the charges that came first. */
export type BatchedVerdict = Decision

/** Sends charges to the process that counts. The verdicts come back in the same order. */
export type LimiterChannel = (charges: readonly BatchedCharge[]) => Promise<readonly BatchedVerdict[]>

/** The side that counts. */
export const createLimiterService = (
  clock: MonotonicClock = monotonicClock,
): ((charges: readonly BatchedCharge[]) => readonly BatchedVerdict[]) => {
  const counters = createCounters(clock)
  return charges => charges.map(charge => counters.decide(charge, charge.count))
}

/**
 * Longest wait for the counting process, in milliseconds. It runs on the same machine and ends together with its
 * workers. So if it does not answer, it is busy, for example because it reads a large configuration, and it will still
 * count what it was sent.
 */
const patienceMs = 1000

/** How long charges are decided locally before the counting process is called again, in milliseconds. */
const pauseMs = 200

/** A batch and its callers whose charges are in one message. */
interface Group {
  readonly batch: ChargeBatch<Count>
  readonly waiters: readonly PendingDecision[]
}

/** The side that asks. All charges of one turn of the event loop are sent in one message. */
export const createSharedLimiter = (ask: LimiterChannel, options: OutageOptions): Limiter => {
  const clock = options.clock ?? monotonicClock
  const local = createLocalFallback(options.share, clock)
  const batchOf = createChargeBatches<Count>(clock, toCount)
  let due: ChargeBatch<Count>[] = []
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  let isUp = true

  const setState = (up: boolean, error?: Error): void => {
    pausedUntilMs = up ? Number.NEGATIVE_INFINITY : clock.nowMs() + pauseMs
    if (up === isUp) return
    isUp = up
    options.onStateChange(up, error)
  }
  const send = async (): Promise<void> => {
    const groups = takeGroups()
    const sentAtMs = clock.nowMs()
    try {
      const decisions = await withPatience(askAbout(groups), () => setState(true))
      setState(true)
      for (const [index, group] of groups.entries()) resolveGroup(group, decisions[index], sentAtMs)
    } catch (error) {
      setState(false, error instanceof Error ? error : new Error(String(error)))
      for (const { batch, waiters } of groups) for (const waiter of waiters) waiter(local.decide(batch.charge))
    }
  }
  const takeGroups = (): readonly Group[] => {
    const batches = due
    due = []
    return batches.map(batch => {
      batch.isQueued = false
      return { batch, waiters: batch.takeWaiters() }
    })
  }
  const askAbout = async (groups: readonly Group[]): Promise<readonly BatchedVerdict[]> =>
    ask(groups.map(({ batch, waiters }) => ({ ...batch.question, count: waiters.length })))
  const resolveGroup = ({ batch, waiters }: Group, decision: Decision | undefined, sentAtMs: number): void => {
    if (!decision) throw new Error('the primary process did not answer all charges')
    local.record(batch.charge, decision)
    batch.resolve(waiters, decision, sentAtMs)
  }
  const gather = (batch: ChargeBatch<Count>): Promise<Verdict> =>
    new Promise(resolve => {
      batch.wait(resolve)
      if (batch.isQueued) return
      batch.isQueued = true
      if (due.length === 0) setImmediate(send)
      due.push(batch)
    })

  return {
    charge: charge => {
      const batch = batchOf(charge)
      return batch.refusal() ?? (clock.nowMs() < pausedUntilMs ? local.decide(charge) : gather(batch))
    },
    close: async () => undefined,
  }
}

const toCount = ({ key, byAddress, rules }: Charge): Count => (byAddress ? { key, byAddress, rules } : { key, rules })

/** Resolves to the answer, or rejects if it takes too long. Then `onLate` is called when the answer comes. */
const withPatience = <Answer>(answer: Promise<Answer>, onLate: () => void): Promise<Answer> =>
  new Promise((resolve, reject) => {
    let isLate = false
    const giveUp = (): void => {
      isLate = true
      reject(new Error(`the primary process did not answer within ${patienceMs} ms`))
    }
    // If this process itself was blocked, it reads the answers that came meanwhile before the timer counts.
    const timer = setTimeout(() => setImmediate(giveUp), patienceMs)
    answer.then(value => {
      clearTimeout(timer)
      if (isLate) onLate()
      else resolve(value)
    }, reject)
  })
