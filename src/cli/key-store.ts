import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { withStore } from '../app/store.ts'
import type { SidegateConfig } from '../config/load.ts'
import type { KeyStore } from '../stores/ports/keys.ts'

/**
 * The keys in a configuration's store, for a command beside the gateway.
 * @throws Error where no other process can see them, and where nobody has made the store: it is the gateway's to make
 */
export const withKeyStore = async <T>(config: SidegateConfig, use: (keys: KeyStore) => Promise<T>): Promise<T> => {
  if (config.store.kind === 'memory')
    throw new Error("the keys of store: memory: are in the gateway's own process alone")
  if (config.store.kind === 'sqlite' && !existsSync(config.store.path))
    throw new Error(`there is no store at ${resolve(config.store.path)}; the gateway makes it when it starts`)
  return withStore(config, store => use(store.keys))
}
