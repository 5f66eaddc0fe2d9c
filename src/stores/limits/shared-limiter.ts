import type { Charge, Limiter, Rule, Verdict } from '../ports/limiter.ts'
import { type Count, createCounters, type Decision } from './counters.ts'
import { createDenyCache, type DenyCache } from './deny-cache.ts'
import { type AwayOptions, createLocalShare } from './local-share.ts'
import { type MonotonicClock, monotonicClock } from './monotonic-clock.ts'
import { settleTogether, type Waiter } from './verdicts.ts'

/**
 * Plan limits of all workers of a machine, for the embedded store: one process keeps the counters
 * (`createLimiterService`), the others ask it (`createSharedLimiter`). Only plain data crosses between them.
 */

/** The charges of one key and the same rules that came in one turn of a worker's event loop. */
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
  const counters = createCounters(clock)
  return charges => charges.map(charge => counters.decide(charge, charge.count))
}

/**
 * Longest wait for the counting process, in milliseconds. It is on the same machine, and ends with its workers: when it is
 * silent it is busy, with a large configuration that is read again, say, and what it is asked it will count all the same.
 */
const patienceMs = 1000

/** How long charges are decided locally before the counting process is asked again, in milliseconds. */
const pauseMs = 200

/** Who waits for one verdict. */
interface Group {
  readonly charge: Charge
  readonly waiters: Waiter[]
}

/** What is remembered for charges by the same rules. */
interface RuleSet {
  readonly denied: DenyCache
  /** By key: who goes along in the next message. */
  readonly gathered: Map<string, Group>
}

/** The asking side: all charges of one turn of the event loop go in one message. */
export const createSharedLimiter = (ask: LimiterChannel, options: AwayOptions): Limiter => {
  const clock = options.clock ?? monotonicClock
  const local = createLocalShare(options.share, clock)
  const ruleSets = new WeakMap<readonly Rule[], RuleSet>()
  let batch: Group[] = []
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  let isUp = true

  const ruleSetOf = (rules: readonly Rule[]): RuleSet => {
    const known = ruleSets.get(rules)
    if (known) return known
    const made = { denied: createDenyCache(rules, clock), gathered: new Map() }
    ruleSets.set(rules, made)
    return made
  }
  const setState = (up: boolean, error?: Error): void => {
    pausedUntilMs = up ? Number.NEGATIVE_INFINITY : clock.nowMs() + pauseMs
    if (up === isUp) return
    isUp = up
    options.onStateChange(up, error)
  }
  const send = async (): Promise<void> => {
    const groups = batch
    batch = []
    for (const { charge } of groups) ruleSetOf(charge.rules).gathered.delete(charge.key)
    const sentAtMs = clock.nowMs()
    try {
      const decisions = await withPatience(askAbout(groups), () => setState(true))
      setState(true)
      for (const [index, group] of groups.entries()) settle(group, decisions[index], sentAtMs)
    } catch (error) {
      setState(false, error instanceof Error ? error : new Error(String(error)))
      for (const { charge, waiters } of groups) for (const waiter of waiters) waiter(local.decide(charge))
    }
  }
  const askAbout = async (groups: readonly Group[]): Promise<readonly BatchedVerdict[]> =>
    ask(groups.map(({ charge: { key, rules }, waiters }) => ({ key, rules, count: waiters.length })))
  const settle = ({ charge, waiters }: Group, decision: Decision | undefined, sentAtMs: number): void => {
    if (!decision) throw new Error('the primary process did not answer all charges')
    local.record(charge, decision)
    ruleSetOf(charge.rules).denied.remember(charge.key, sentAtMs, decision.rules)
    settleTogether(waiters, charge.rules, decision)
  }
  const gather = (charge: Charge, { gathered }: RuleSet): Promise<Verdict> =>
    new Promise(resolve => {
      const group = gathered.get(charge.key)
      if (group) return void group.waiters.push(resolve)
      const made = { charge, waiters: [resolve] }
      if (batch.length === 0) setImmediate(send)
      batch.push(made)
      gathered.set(charge.key, made)
    })

  return {
    charge: charge => {
      const ruleSet = ruleSetOf(charge.rules)
      const refusal = ruleSet.denied.find(charge.key)
      if (refusal) return refusal
      return clock.nowMs() < pausedUntilMs ? local.decide(charge) : gather(charge, ruleSet)
    },
    close: async () => undefined,
  }
}

/** The answer, or an error when it takes too long; `onLate` when it comes after that. */
const withPatience = <Answer>(answer: Promise<Answer>, onLate: () => void): Promise<Answer> =>
  new Promise((resolve, reject) => {
    let isLate = false
    const giveUp = (): void => {
      isLate = true
      reject(new Error(`the primary process did not answer within ${patienceMs} ms`))
    }
    // A process that stood still itself reads first what has come meanwhile.
    const timer = setTimeout(() => setImmediate(giveUp), patienceMs)
    answer.then(value => {
      clearTimeout(timer)
      if (isLate) onLate()
      else resolve(value)
    }, reject)
  })
