import { withStore } from '../app.ts'
import type { SidegateConfig } from '../config/load.ts'
import type { KeyStore } from '../stores/ports.ts'

/**
 * The keys in a configuration's store, for a command beside the gateway.
 * @throws Error where no other process can see them
 */
export const withKeyStore = async <T>(config: SidegateConfig, use: (keys: KeyStore) => Promise<T>): Promise<T> => {
  if (config.store.kind === 'memory')
    throw new Error("the keys of store: memory: are in the gateway's own process alone")
  return withStore(config, store => use(store.keys))
}
