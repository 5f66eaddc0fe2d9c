import type { Charge, Verdict } from '../ports.ts'
import { createSlidingLogs, type MonotonicClock } from './sliding-log.ts'
import { toVerdict } from './verdicts.ts'

/** Which part of every limit this process holds while the shared count is away: one of `of`, counted from 0. */
export interface Share {
  readonly index: number
  readonly of: number
}

/** What a limiter with a shared count is told for the time when that is away. */
export interface AwayOptions {
  /** Which share of a limit this process holds then. Asked at each decision. */
  readonly share: () => Share
  /** Told when the shared count stops answering, and when it answers again. */
  readonly onStateChange: (up: boolean, error?: Error) => void
  /** Left out: the process's own. */
  readonly clock?: MonotonicClock
}

/**
 * Decides while the shared count is away, as the plan says. Its own log holds what this process let in at any time, so
 * that what the shared count granted just before is not granted again just after.
 */
export interface LocalShare {
  decide(charge: Charge): Verdict
  /** Writes down what the shared count let in. */
  record(charge: Charge, admitted: number): void
}

/** What a plan that is closed without its count tells callers to wait, in milliseconds. */
const closedWaitMs = 1000

export const createLocalShare = (share: () => Share, clock: MonotonicClock): LocalShare => {
  const logs = createSlidingLogs(clock)
  return {
    decide: charge => {
      switch (charge.whenStoreFails) {
        case 'local':
          return toVerdict(logs.decide(charge, 1, shareOf(charge.limit, share())), 'local')
        case 'open':
          return { allowed: true, remaining: charge.limit, waitMs: charge.windowMs, source: 'open' }
        case 'closed':
          return { allowed: false, remaining: 0, waitMs: closedWaitMs, source: 'closed' }
      }
    },
    record: (charge, admitted) => {
      if (charge.whenStoreFails === 'local') logs.record(charge, admitted)
    },
  }
}

/** Largest remainder by place: the shares of all places add up to the limit, and differ by one at most. */
export const shareOf = (limit: number, { index, of }: Share): number =>
  Math.floor(limit / of) + (index < limit % of ? 1 : 0)
