import { systemClock } from '../clock.ts'
import type { SidegateConfig } from '../config/load.ts'
import { openStore } from '../stores/open.ts'
import type { Store } from '../stores/ports/store.ts'

/** Opens the configuration's store for as long as `use` takes. @param access as `openStore` has it */
export const withStore = async <T>(
  config: SidegateConfig,
  use: (store: Store) => Promise<T>,
  access: 'write' | 'read' = 'write',
): Promise<T> => {
  const store = await openStore(config.store, systemClock, access)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** The policies by which a Redis may evict keys; undefined if the store is no Redis, or if it does not tell. */
export const findEviction = async ({ store }: SidegateConfig): Promise<readonly string[] | undefined> => {
  if (store.kind !== 'redis') return undefined
  const { readEvictionPolicies } = await import('../stores/eviction.ts')
  return readEvictionPolicies(store)
}
