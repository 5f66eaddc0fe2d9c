import type { Verdict } from '../ports.ts'
import type { Decision } from './sliding-log.ts'

/** A caller that waits for its verdict. */
export type Waiter = (verdict: Verdict) => void

/** The verdict for a request that was decided alone. */
export const toVerdict = (decision: Decision, source: Verdict['source']): Verdict => ({
  allowed: decision.granted > 0,
  remaining: decision.granted > 0 ? decision.remaining : 0,
  waitMs: decision.waitMs,
  source,
})

/** Hands what was granted to those who came first; each sees what was left when its own turn came. */
export const settleTogether = (waiters: readonly Waiter[], decision: Decision, windowMs: number): void => {
  for (const [place, settle] of waiters.entries()) {
    const allowed = place < decision.granted
    const remaining = allowed ? decision.remaining + decision.granted - 1 - place : 0
    settle({ allowed, remaining, waitMs: remaining > 0 ? windowMs : decision.waitMs, source: 'store' })
  }
}
