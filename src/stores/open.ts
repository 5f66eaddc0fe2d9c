import type { Clock } from '../clock.ts'
import { createMemoryStore } from './memory.ts'
import type { Store } from './ports/store.ts'
import type { StoreUrl } from './store-url.ts'

export { parseStoreUrl, type StoreUrl } from './store-url.ts'

/**
 * Opens the store that the configuration names, for one process. Only the adapter in use is loaded.
 *
 * @param access `read`: nothing is to be written, and an embedded store's file stays as it is
 * @throws Error one line for a person, where an embedded store's file cannot be opened; a Redis that is away is no error
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
