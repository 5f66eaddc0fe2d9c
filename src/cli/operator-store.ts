import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { withStore } from '../app/operator-store.ts'
import { systemClock } from '../clock.ts'
import type { SidegateConfig } from '../config/load.ts'
import type { KeyStore } from '../stores/ports/keys.ts'
import type { Store } from '../stores/ports/store.ts'

/**
 * A configuration's store, for a command beside the gateway.
 * @param what is kept there, as the sentence of a refusal begins: `the keys`
 * @param access `read`: nothing is written, and an embedded store's file stays as it is; `make`: it is made where there is none
 * @throws Error where no other process can see it, where nobody has made it but with `make`, and where a copy into it has
 * not ended
 */
export const withOperatedStore = async <T>(
  config: SidegateConfig,
  what: string,
  use: (store: Store) => Promise<T>,
  access: 'write' | 'read' | 'make' = 'write',
): Promise<T> => {
  if (config.store.kind === 'memory')
    throw new Error(`${what} of store: memory: are in the gateway's own process alone`)
  if (access !== 'make' && isUnmade(config.store))
    throw new Error(`there is no store at ${resolve(config.store.path)}; the gateway makes it when it starts`)
  const useWhole = async (store: Store): Promise<T> => {
    // What an operator changes in half a copy, its other half would change back. Keys of half a copy are not to be had.
    await store.keys.load(systemClock.nowMs())
    return use(store)
  }
  return withStore(config, useWhole, access === 'read' ? 'read' : 'write')
}

/** Whether nobody has made an embedded store yet. */
export const isUnmade = (store: SidegateConfig['store']): store is EmbeddedStore =>
  store.kind === 'sqlite' && !existsSync(store.path)

type EmbeddedStore = Extract<SidegateConfig['store'], { readonly kind: 'sqlite' }>

/** The keys in a configuration's store, for a command beside the gateway. @throws Error as `withOperatedStore` does */
export const withKeyStore = <T>(
  config: SidegateConfig,
  use: (keys: KeyStore) => Promise<T>,
  access: 'write' | 'read' = 'write',
): Promise<T> => withOperatedStore(config, 'the keys', store => use(store.keys), access)
