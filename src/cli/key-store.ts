import type { SidegateConfig } from '../config/load.ts'
import type { KeyStore } from '../stores/ports/keys.ts'
import { withOperatedStore } from './operator-store.ts'

/** The keys in a configuration's store, for a command beside the gateway. @throws Error as `withOperatedStore` does */
export const withKeyStore = <T>(
  config: SidegateConfig,
  use: (keys: KeyStore) => Promise<T>,
  access: 'write' | 'read' = 'write',
): Promise<T> => withOperatedStore(config, 'the keys', store => use(store.keys), access)
