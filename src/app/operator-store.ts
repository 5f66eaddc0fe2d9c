/** The store for the commands of an operator. Code that only one command needs is loaded when that command runs. */
import { systemClock } from '../clock.ts'
import type { SidegateConfig } from '../config/load.ts'
import { openStore, parseStoreUrl } from '../stores/open.ts'
import type { Store } from '../stores/ports/store.ts'

/** The kind and the place of a store. Printing it does not show the secrets in it. */
export type StoreAddress = SidegateConfig['store']

/** How many records of each kind were copied. */
export type CopiedCounts = Readonly<Record<string, number>>

/** The address of a store. The sentence of a problem never repeats the address, because it may hold a password. */
export const parseStoreAddress: (text: string) => StoreAddress | { readonly problem: string } = parseStoreUrl

/** Opens the configuration's store for as long as `use` takes. @param access as in `openStore` */
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

/**
 * The policies by which a Redis may evict keys; undefined if the store is not a Redis, or if Redis does not report
 * them.
 */
export const findEviction = async ({ store }: SidegateConfig): Promise<readonly string[] | undefined> => {
  if (store.kind !== 'redis') return undefined
  const { readEvictionPolicies } = await import('../stores/eviction.ts')
  return readEvictionPolicies(store)
}

/**
 * Copies an embedded store into a Redis, as `copyStore` of the stores does.
 * @throws Error one line for a person; a StoreUnavailableError if Redis does not answer
 */
export const copyEmbeddedStore = async (from: StoreAddress, to: StoreAddress): Promise<CopiedCounts> => {
  if (from.kind !== 'sqlite') throw new Error('what is copied is an embedded store: sqlite:FILE')
  if (to.kind !== 'redis')
    throw new Error('it is copied to a Redis; a file goes to another place by store backup and store restore')
  const { copyStore } = await import('../stores/copy.ts')
  return copyStore(from.path, to, systemClock)
}

/** @throws Error one line for a person: as `backUpFile` does, or because the configuration's store is not a file */
export const backUpStore = async ({ store }: SidegateConfig, to: string): Promise<void> => {
  const path = pathOf(store)
  const { backUpFile } = await import('../stores/sqlite/backup.ts')
  return backUpFile(path, to)
}

/**
 * @returns where the replaced file is kept, as `restoreFile` returns it
 * @throws Error one line for a person: as `restoreFile` does, or because the configuration's store is not a file
 */
export const restoreStore = async ({ store }: SidegateConfig, from: string): Promise<string | undefined> => {
  const path = pathOf(store)
  const { restoreFile } = await import('../stores/sqlite-restore.ts')
  return restoreFile(from, path, systemClock)
}

const pathOf = (store: SidegateConfig['store']): string => {
  switch (store.kind) {
    case 'sqlite':
      return store.path
    case 'redis':
      throw new Error("the store is a Redis, which has its own backups: see Redis's persistence")
    case 'memory':
      throw new Error('store: memory: keeps nothing beyond its process')
  }
}
