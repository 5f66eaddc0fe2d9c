import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { withStore } from '../app/operator-store.ts'
import { systemClock } from '../clock.ts'
import type { SidegateConfig } from '../config/load.ts'
import type { KeyStore } from '../stores/ports/keys.ts'
import type { Store } from '../stores/ports/store.ts'

/**
 * A configuration's store, for a command that runs beside the gateway.
 * @param what the data that the command needs, as the beginning of an error message: `the keys`
 * @param access `read`: nothing is written, and the file of an embedded store remains as it is; `make`: the store is
 * created if it does not exist
 * @throws Error if no other process can use the store, if it does not exist (except with `make`), or if a copy into it
 * has not finished
 */
export const withOperatedStore = async <T>(
  config: SidegateConfig,
  what: string,
  use: (store: Store) => Promise<T>,
  access: 'write' | 'read' | 'make' = 'write',
): Promise<T> => {
  if (config.store.kind === 'memory')
    throw new Error(`${what} of store: memory: exist only in the gateway's own process`)
  if (access !== 'make' && isUnmade(config.store))
    throw new Error(`there is no store at ${resolve(config.store.path)}; the gateway creates it when it starts`)
  const useWhole = async (store: Store): Promise<T> => {
    // A change in half a copy would be undone by its other half. Keys of half a copy cannot be loaded.
    await store.keys.load(systemClock.nowMs())
    return use(store)
  }
  return withStore(config, useWhole, access === 'read' ? 'read' : 'write')
}

/** Whether an embedded store does not exist yet. */
export const isUnmade = (store: SidegateConfig['store']): store is EmbeddedStore =>
  store.kind === 'sqlite' && !existsSync(store.path)

type EmbeddedStore = Extract<SidegateConfig['store'], { readonly kind: 'sqlite' }>

/**
 * The keys in a configuration's store, for a command that runs beside the gateway. @throws Error as `withOperatedStore`
 * does
 */
export const withKeyStore = <T>(
  config: SidegateConfig,
  use: (keys: KeyStore) => Promise<T>,
  access: 'write' | 'read' = 'write',
): Promise<T> => withOperatedStore(config, 'the keys', store => use(store.keys), access)
