import { type MonotonicClock, monotonicClock } from '../../clock.ts'
import { toVerdict } from '../limits/batching/pending-decisions.ts'
import { createCounters } from '../limits/counters.ts'
import type { Limiter } from '../ports/limiter.ts'

/** Plan limits of one process, decided at once. */
export const createMemoryLimiter = (clock: MonotonicClock = monotonicClock): Limiter => {
  const counters = createCounters(clock)
  return {
    charge: charge => toVerdict(charge.rules, counters.decide(charge), 'store'),
    close: async () => undefined,
  }
}
