import type { Limiter, Rule } from '../../stores/ports/limiter.ts'

/**
 * Counts failed proofs by one kind of key: a name at an address, a name, or an address. All processes count together.
 */
export interface FailureCount {
  /** Counts one failure. Returns the wait in milliseconds if there were too many, else 0. */
  add(key: string): Promise<number>
  /** The wait in milliseconds while the key is blocked, else 0. Costs no store call. */
  blockedMs(key: string): number
  /** Whether this process knows of no failure. */
  isEmpty(): boolean
  /** How many more failures of the key are allowed, as far as this process knows. */
  remaining(key: string): number
}

/** The state of a key in this process since its last failure. */
interface Known {
  readonly remaining: number
  readonly blockedUntilMs: number
  readonly forgetAtMs: number
}

/**
 * Unauthenticated clients choose the keys, so their number is limited. The oldest key is forgotten, and learnt again at
 * its next failure.
 */
const maxKnown = 10_000

export const createFailureCount = (
  limiter: Limiter,
  limit: number,
  windowSec: number,
  nowMs: () => number,
): FailureCount => {
  const windowMs = windowSec * 1000
  const rules: readonly Rule[] = [{ counter: 'failed', algorithm: 'strict', limit, windowMs, burst: 1, mode: 'hard' }]
  const known = new Map<string, Known>()

  const find = (key: string): Known | undefined => {
    if (known.size === 0) return undefined
    const found = known.get(key)
    if (found === undefined || found.forgetAtMs > nowMs()) return found
    known.delete(key)
    return undefined
  }
  const remember = (key: string, remaining: number, waitMs: number): void => {
    const now = nowMs()
    // A key that failed again moves to the end, so that the first key is the one with the oldest last failure.
    known.delete(key)
    if (known.size >= maxKnown) known.delete(known.keys().next().value ?? '')
    known.set(key, { remaining, blockedUntilMs: now + waitMs, forgetAtMs: now + windowMs })
  }
  return {
    async add(key) {
      const verdict = await limiter.charge({ key: `failures:${key}`, byAddress: true, rules, whenStoreFails: 'local' })
      const waitMs = verdict.allowed ? 0 : verdict.waitMs
      remember(key, verdict.rules[0]?.remaining ?? limit, waitMs)
      return waitMs
    },
    blockedMs(key) {
      const found = find(key)
      return found === undefined ? 0 : Math.max(0, found.blockedUntilMs - nowMs())
    },
    isEmpty: () => known.size === 0,
    remaining: key => find(key)?.remaining ?? limit,
  }
}
