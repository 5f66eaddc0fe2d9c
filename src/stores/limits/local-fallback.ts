import type { MonotonicClock } from '../../clock.ts'
import { shareOf, type WorkerShare } from '../../share.ts'
import type { Charge, Rule, Verdict } from '../ports/limiter.ts'
import { AdmissionLog, type AdmissionLogReader } from './admission-log.ts'
import { toVerdict } from './batching/pending-decisions.ts'
import type { Terms } from './counter.ts'
import { createCounters, type Decision } from './counters.ts'

/** How a limiter with a shared count behaves while that count is unavailable. */
export interface OutageOptions {
  /** This process's share of each limit during an outage. Called at each decision. */
  readonly share: () => WorkerShare
  /** Called when the shared count stops answering, and when it answers again. */
  readonly onStateChange: (up: boolean, error?: Error) => void
  /** Default: the clock of the process. */
  readonly clock?: MonotonicClock
}

/**
 * Decides as the plan's `whenStoreFails` says while the shared count is unavailable. Its own counters include
 * everything that this process admits at any time, so that admissions of the shared count just before the outage are
 * not granted again.
 */
export interface LocalFallback {
  decide(charge: Charge): Verdict
  /** Records what the shared count admitted. */
  record(charge: Charge, decision: Decision): void
}

/** The wait, in milliseconds, that a refusal names under a plan with `whenStoreFails: closed`. */
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

/**
 * Longest window, in milliseconds, whose admissions go to the log until they are needed. A busy worker writes 20,000
 * entries a second.
 */
const longestLoggedWindowMs = 1000

/** Whether an admission has no effect any more once its window has passed. */
const isLogged = ({ algorithm, windowMs }: Rule): boolean => algorithm === 'strict' && windowMs <= longestLoggedWindowMs

/** A plan with only soft rules never refuses requests, so it must not refuse them without its count either. */
const fallbackOf = ({ rules, whenStoreFails }: Charge): Charge['whenStoreFails'] =>
  whenStoreFails === 'closed' && rules.every(({ mode }) => mode === 'soft') ? 'open' : whenStoreFails

/** Computes the shares of rules again only if the worker's share has changed. */
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
 * One process's share of a rule; the shares of all processes add up to the rule. A `smooth` rule is shared only by as
 * many processes as can have a burst of at least one: a process without a burst could admit no request, and its part of
 * the rate would be lost.
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
