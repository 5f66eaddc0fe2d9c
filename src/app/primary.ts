/** The primary's part of the app: work that is done once for all workers, without requests. */
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

/** The store as the primary found it, before any worker opened it. */
export interface PreparedStore {
  /** Why the store does not answer; undefined if it does. Sidegate starts without a Redis that does not answer. */
  readonly unavailableReason: string | undefined
  /**
   * The last process to close an embedded store has to clean up its file on disk, so this should be called after the
   * workers have opened it.
   */
  close(): void
}

/**
 * Opens the store once before any worker does, so that a fault is reported once, and creates the keys.
 * @param onChange called for each created key
 * @throws Error one line for a person, if the store can never work
 */
export const prepareStore = async (config: SidegateConfig, onChange: OnChange): Promise<PreparedStore> => {
  // The keys in memory belong to this process alone and vanish with it, so they are not reported.
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

/** Reports whether Redis may evict keys; undefined if the store is not a Redis. @param changed as in `watchEviction` */
export const followEviction = async ({ store }: SidegateConfig, changed: () => void) => {
  if (store.kind !== 'redis') return undefined
  const { watchEviction } = await import('../stores/eviction.ts')
  return watchEviction(store, changed)
}

/** Counts the pods that share the store; undefined if the configuration sets their number. */
export const countPods = async (config: SidegateConfig): Promise<ReplicaCounter | undefined> => {
  if (config.pods !== 'auto' || config.store.kind !== 'redis') return undefined
  const { createReplicaCounter } = await import('../stores/replica-counter.ts')
  return createReplicaCounter(config.store, `${hostname()}-${randomUUID()}`)
}

/**
 * The options of the private listener; undefined if it is not configured. The listener is only needed for an external
 * login application.
 */
export const privateOptions = ({ internal, oauth }: SidegateConfig): SidegateConfig['internal'] =>
  oauth.login.mode === 'handoff' ? internal : undefined
