import { systemClock } from '../clock.ts'
import type { SidegateConfig } from '../config/load.ts'
import { copyStore } from '../stores/copy.ts'
import { parseStoreUrl } from '../stores/open.ts'

/** Which store, and where; what is secret in it cannot be printed. */
export type StoreAddress = SidegateConfig['store']

/** What went over, by kind. */
export type CopiedCounts = Readonly<Record<string, number>>

/** The address of a store. A problem's sentence never repeats it, for it may hold a password. */
export const parseStoreAddress: (text: string) => StoreAddress | { readonly problem: string } = parseStoreUrl

/**
 * Copies an embedded store into a Redis, as `copyStore` of the stores does.
 * @throws Error one line for a person; a StoreUnavailableError where Redis does not answer
 */
export const copyEmbeddedStore = (from: StoreAddress, to: StoreAddress): Promise<CopiedCounts> => {
  if (from.kind !== 'sqlite') throw new Error('what is copied is an embedded store: sqlite:FILE')
  if (to.kind !== 'redis')
    throw new Error('it is copied to a Redis; a file goes to another place by store backup and store restore')
  return copyStore(from.path, to, systemClock)
}
