import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { withStore } from '../app/store.ts'
import type { SidegateConfig } from '../config/load.ts'
import type { Store } from '../stores/ports/store.ts'

/**
 * A configuration's store, for a command beside the gateway.
 * @param what is kept there, as the sentence of a refusal begins: `the keys`
 * @throws Error where no other process can see it, and where nobody has made it: it is the gateway's to make
 */
export const withOperatedStore = async <T>(
  config: SidegateConfig,
  what: string,
  use: (store: Store) => Promise<T>,
): Promise<T> => {
  if (config.store.kind === 'memory')
    throw new Error(`${what} of store: memory: are in the gateway's own process alone`)
  if (config.store.kind === 'sqlite' && !existsSync(config.store.path))
    throw new Error(`there is no store at ${resolve(config.store.path)}; the gateway makes it when it starts`)
  return withStore(config, use)
}
