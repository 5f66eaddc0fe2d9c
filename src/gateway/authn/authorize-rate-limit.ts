import { addressKey } from '../../http/peer/client-ip.ts'
import type { StartLimit } from '../../oauth/limits.ts'
import type { Rate } from '../../plans/plan.ts'
import type { Limiter, Rule } from '../../stores/ports/limiter.ts'

/** Counts by address the records that unauthenticated clients leave in the store. */
export const createAuthorizeRateLimit = (limiter: Limiter, rate: Rate): StartLimit => {
  const rules: readonly Rule[] = [
    {
      counter: 'begun',
      algorithm: 'strict',
      limit: rate.limit,
      windowMs: rate.windowSec * 1000,
      burst: 1,
      mode: 'hard',
    },
  ]
  return {
    take: async (what, address) => {
      const key = `starts:${what} ${addressKey(address)}`
      const { allowed, waitMs } = await limiter.charge({ key, byAddress: true, rules, whenStoreFails: 'local' })
      return allowed ? 0 : waitMs
    },
  }
}
