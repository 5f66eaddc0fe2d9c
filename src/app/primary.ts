/** The primary's share of the app: what is done once, for all workers, and without ever seeing a request. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { systemClock } from '../clock.ts'
import type { SidegateConfig } from '../config/load.ts'
import { openKeyRing } from '../oauth/keys/key-ring.ts'
import { openStore } from '../stores/open.ts'
import { StoreUnavailableError } from '../stores/ports/store-unavailable.ts'
import type { ReplicaCounter } from '../stores/replica-counter.ts'
import { auditKeys, type OnChange } from './audit-events.ts'

export { createLimiterService } from '../stores/limits/batching/shared-limiter.ts'
export type { ReplicaCounter } from '../stores/replica-counter.ts'
export { findRestartOnlyChange } from './restart-only-settings.ts'

/** The store as it was found before any worker opened it. */
export interface PreparedStore {
  /** Undefined where it answers, else why not: a Redis that is away is no reason to stay down. */
  readonly unavailableReason: string | undefined
  /** Whoever closes an embedded store last has to tidy up its file, on the disk: so workers should have opened it by then. */
  close(): void
}

/**
 * Opens the store once before any worker does: what cannot work is said in one line, and the keys are made.
 * @param onChange told of the keys that are made
 * @throws Error one line for a person, where the store can never work
 */
export const prepareStore = async (config: SidegateConfig, onChange: OnChange): Promise<PreparedStore> => {
  // What is in memory is this process's alone, and gone with it.
  const reports = config.store.kind === 'memory' ? {} : { change: auditKeys(onChange) }
  const store = await openStore(config.store, systemClock)
  const close = (): void => void store.close()
  try {
    const keys = await openKeyRing(store.keys, systemClock, config.oauth, reports)
    keys.close()
    await store.ping()
    return { unavailableReason: undefined, close }
  } catch (error) {
    if (error instanceof StoreUnavailableError) return { unavailableReason: error.reason, close }
    close()
    throw error
  }
}

/** Follows whether Redis may evict keys; undefined if the store is no Redis. @param changed as `watchEviction` has it */
export const followEviction = async ({ store }: SidegateConfig, changed: () => void) => {
  if (store.kind !== 'redis') return undefined
  const { watchEviction } = await import('../stores/eviction.ts')
  return watchEviction(store, changed)
}

/** Counts the pods that share the store, if they are to be counted; undefined where their number is known. */
export const countPods = async (config: SidegateConfig): Promise<ReplicaCounter | undefined> => {
  if (config.pods !== 'auto' || config.store.kind !== 'redis') return undefined
  const { createReplicaCounter } = await import('../stores/replica-counter.ts')
  return createReplicaCounter(config.store, `${hostname()}-${randomUUID()}`)
}

/** The private listener to open, if there is one: without a hand-off nobody has anything to say there. */
export const privateOptions = ({ internal, oauth }: SidegateConfig): SidegateConfig['internal'] =>
  oauth.login.mode === 'handoff' ? internal : undefined
