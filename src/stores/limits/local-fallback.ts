import type { MonotonicClock } from '../../clock.ts'
import { shareOf, type WorkerShare } from '../../share.ts'
import type { Charge, Rule, Verdict } from '../ports/limiter.ts'
import { AdmissionLog, type AdmissionLogReader } from './admission-log.ts'
import { toVerdict } from './batching/pending-decisions.ts'
import type { Terms } from './counter.ts'
import { createCounters, type Decision } from './counters.ts'

/** What a limiter with a shared count is told for the time when that is away. */
export interface OutageOptions {
  /** Which share of a limit this process holds then. Asked at each decision. */
  readonly share: () => WorkerShare
  /** Told when the shared count stops answering, and when it answers again. */
  readonly onStateChange: (up: boolean, error?: Error) => void
  /** Left out: the process's own. */
  readonly clock?: MonotonicClock
}

/**
 * Decides while the shared count is away, as the plan says. Its own counters hold what this process let in at any time, so
 * that what the shared count granted just before is not granted again just after.
 */
export interface LocalFallback {
  decide(charge: Charge): Verdict
  /** Writes down what the shared count let in. */
  record(charge: Charge, decision: Decision): void
}

/** What a plan that is closed without its count tells callers to wait, in milliseconds. */
const closedWaitMs = 1000

export const createLocalFallback = (share: () => WorkerShare, clock: MonotonicClock): LocalFallback => {
  const counters = createCounters(clock)
  const admissionLog = new AdmissionLog(longestLoggedWindowMs * 1000)
  const termsOf = memoizeTerms(share)
  const count: AdmissionLogReader = (charge, admitted, atMicros) =>
    counters.record(charge, admitted, termsOf(charge.rules), atMicros)
  return {
    decide: charge => {
      const { rules } = charge
      admissionLog.moveTo(count)
      switch (fallbackOf(charge)) {
        case 'local':
          return toVerdict(rules, counters.decide(charge, 1, termsOf(rules)), 'local')
        case 'open':
          return {
            allowed: true,
            shadowDenied: false,
            rules: rules.map(({ limit, windowMs }) => ({ remaining: limit, waitMs: windowMs })),
            waitMs: 0,
            source: 'open',
          }
        case 'closed':
          return {
            allowed: false,
            shadowDenied: false,
            rules: rules.map(() => ({ remaining: 0, waitMs: closedWaitMs })),
            waitMs: closedWaitMs,
            source: 'closed',
          }
      }
    },
    record: (charge, decision) => {
      if (charge.whenStoreFails !== 'local' || decision.granted === 0) return
      const atMicros = Math.round(clock.nowMs() * 1000)
      if (charge.rules.every(isLogged)) admissionLog.write(charge, decision, atMicros)
      else count(charge, decision, atMicros)
    },
  }
}

/** Longest window, in milliseconds, that is in a journal until somebody asks: a second of a busy worker is 20,000 entries. */
const longestLoggedWindowMs = 1000

/** Whether nothing is left of an admission when its window has passed. */
const isLogged = ({ algorithm, windowMs }: Rule): boolean => algorithm === 'strict' && windowMs <= longestLoggedWindowMs

/** A plan that never refuses anybody does not begin to without its count. */
const fallbackOf = ({ rules, whenStoreFails }: Charge): Charge['whenStoreFails'] =>
  whenStoreFails === 'closed' && rules.every(({ mode }) => mode === 'soft') ? 'open' : whenStoreFails

/** The shares of rules, worked out anew only where the share has changed. */
const memoizeTerms = (share: () => WorkerShare): ((rules: readonly Rule[]) => readonly Terms[]) => {
  const known = new WeakMap<readonly Rule[], { readonly share: WorkerShare; readonly terms: readonly Terms[] }>()
  return rules => {
    const now = share()
    const found = known.get(rules)
    if (found && found.share.index === now.index && found.share.of === now.of) return found.terms
    const terms = rules.map(rule => shareOfRule(rule, now))
    known.set(rules, { share: now, terms })
    return terms
  }
}

/**
 * One process's share of a rule; the shares of all places add up to the rule. Those of `smooth` go to as many places as have
 * at least one of the burst: a place without any could let nobody in, and its part of the rate would be lost.
 */
export const shareOfRule = ({ algorithm, limit, windowMs, burst }: Rule, { index, of }: WorkerShare): Terms => {
  const places = algorithm === 'smooth' ? Math.min(of, burst, limit) : of
  return {
    limit: shareOf(limit, { index, of: places }),
    windowMs,
    burst: shareOf(burst, { index, of: places }),
    wholeLimit: limit,
  }
}
