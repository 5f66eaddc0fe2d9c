import { createSlidingLogs, type MonotonicClock, monotonicClock } from '../limits/sliding-log.ts'
import { toVerdict } from '../limits/verdicts.ts'
import type { Limiter } from '../ports.ts'

/** Plan limits of one process, decided at once. */
export const createMemoryLimiter = (clock: MonotonicClock = monotonicClock): Limiter => {
  const logs = createSlidingLogs(clock)
  return {
    charge: charge => toVerdict(logs.decide(charge), 'store'),
    close: async () => undefined,
  }
}
