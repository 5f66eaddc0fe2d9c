import { createSharedLimiter, type LimiterChannel } from './limits/batching/shared-limiter.ts'
import type { OutageOptions } from './limits/local-fallback.ts'
import { createMemoryLimiter } from './memory/limiter.ts'
import type { Limiter } from './ports/limiter.ts'
import type { StoreUrl } from './store-url.ts'

export type { WorkerShare } from '../share.ts'
export type { LimiterChannel } from './limits/batching/shared-limiter.ts'

export interface LimiterOptions extends OutageOptions {
  /** The channel to the process that counts for all workers of the machine; the embedded store uses it. */
  readonly channel: LimiterChannel
}

/** The limiter for the configured store, for one process. An unavailable Redis is not an error. */
export const createLimiter = async (url: StoreUrl, options: LimiterOptions): Promise<Limiter> => {
  switch (url.kind) {
    case 'memory':
      return createMemoryLimiter()
    case 'sqlite':
      return createSharedLimiter(options.channel, options)
    case 'redis':
      return (await import('./redis/limiter.ts')).createRedisLimiter(url, options)
  }
}
