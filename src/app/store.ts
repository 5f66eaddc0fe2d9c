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
