import { createGradualEviction } from '../gradual-eviction.ts'
import type { Charge, Verdict } from '../ports.ts'
import type { MonotonicClock } from './sliding-log.ts'

/**
 * What the shared count has refused until when: a client over its limit costs one look here and no call, however hard
 * it tries.
 */
export interface DenyCache {
  find(charge: Charge): Verdict | undefined
  /**
   * Remembers that nothing is left for so long.
   * @param sentAtMs when the question left: the count decided no earlier, so nothing is free before `sentAtMs + waitMs`
   */
  remember(charge: Charge, sentAtMs: number, waitMs: number): void
}

interface Denial {
  /** Counted from the question, less a millisecond of rounding: refuses nobody whom the count would let in. */
  readonly untilMs: number
  /** Counted from the answer: what a caller is told to wait is never too short. */
  readonly freeAtMs: number
  readonly waitMs: number
  readonly limit: number
}

export const createDenyCache = (clock: MonotonicClock): DenyCache => {
  const denials = new Map<string, Denial>()
  const evict = createGradualEviction(denials, denial => denial.untilMs <= clock.nowMs())
  return {
    find: charge => {
      const denial = denials.get(charge.key)
      if (!denial) return undefined
      const nowMs = clock.nowMs()
      // A plan that was changed is asked about anew.
      if (denial.untilMs <= nowMs || denial.limit !== charge.limit) {
        denials.delete(charge.key)
        return undefined
      }
      // Never longer than at first: the sum of two fractions may be off by a hair, and a hair rounds up.
      const waitMs = Math.min(denial.waitMs, Math.max(1, Math.ceil(denial.freeAtMs - nowMs)))
      return { allowed: false, remaining: 0, waitMs, source: 'store' }
    },
    remember: (charge, sentAtMs, waitMs) => {
      evict(3)
      const freeAtMs = clock.nowMs() + waitMs
      denials.set(charge.key, { untilMs: sentAtMs + waitMs - 1, freeAtMs, waitMs, limit: charge.limit })
    },
  }
}
