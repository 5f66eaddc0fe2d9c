import type { Clock } from '../clock.ts'
import { createMemoryStore } from './memory.ts'
import type { Store } from './ports/store.ts'
import { openRedisStore } from './redis.ts'
import { openSqliteStore } from './sqlite.ts'
import type { StoreUrl } from './store-url.ts'

export { parseStoreUrl, type StoreUrl } from './store-url.ts'

/**
 * Opens the store that the configuration names, for one process.
 *
 * @throws Error one line for a person, where an embedded store's file cannot be opened; a Redis that is away is no error
 */
export const openStore = async (url: StoreUrl, clock: Clock): Promise<Store> => {
  switch (url.kind) {
    case 'memory':
      return createMemoryStore(clock)
    case 'sqlite':
      return openSqliteStore(url.path, clock)
    case 'redis':
      return openRedisStore(url, clock)
  }
}
