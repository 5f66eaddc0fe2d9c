import type { Clock } from '../clock.ts'
import { createMemoryStore } from './memory.ts'
import type { Store } from './ports/store.ts'
import type { StoreUrl } from './store-url.ts'

export { parseStoreUrl, type StoreUrl } from './store-url.ts'

/**
 * Opens the configured store for one process. Only the adapter in use is loaded.
 *
 * @param access `read`: nothing is written, and an embedded store's file does not change
 * @throws Error with one line for the operator, if an embedded store's file cannot be opened; an unavailable Redis is
 * not an error
 */
export const openStore = async (url: StoreUrl, clock: Clock, access: 'write' | 'read' = 'write'): Promise<Store> => {
  switch (url.kind) {
    case 'memory':
      return createMemoryStore(clock)
    case 'sqlite':
      return (await import('./sqlite.ts')).openSqliteStore(url.path, clock, access)
    case 'redis':
      return (await import('./redis.ts')).openRedisStore(url, clock)
  }
}
