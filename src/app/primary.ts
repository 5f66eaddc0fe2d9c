/** The primary's share of the app: what is done once, for all workers, and without ever seeing a request. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { systemClock } from '../clock.ts'
import type { SidegateConfig } from '../config/load.ts'
import { openKeyRing } from '../oauth/keys/key-ring.ts'
import type { PodCounter } from '../stores/pods.ts'
import { StoreUnavailableError } from '../stores/ports/store-unavailable.ts'
import { auditKeys } from './key-audit.ts'
import type { OnChange } from './on-change.ts'
import { withStore } from './store.ts'

export { createLimiterService } from '../stores/limits/shared-limiter.ts'
export type { PodCounter } from '../stores/pods.ts'
export { findFixedChange } from './fixed-keys.ts'
export { privateOptions } from './private-options.ts'

/**
 * Opens the store once before any worker does: what cannot work is said in one line, and the keys are made.
 * @param onChange told of the keys that are made
 * @returns undefined where the store answers, else why not: a Redis that is away is no reason to stay down
 * @throws Error one line for a person, where the store can never work
 */
export const prepareStore = async (config: SidegateConfig, onChange: OnChange): Promise<string | undefined> => {
  // What is in memory is this process's alone, and gone with it.
  const reports = config.store.kind === 'memory' ? {} : { change: auditKeys(onChange) }
  try {
    await withStore(config, async store => {
      const keys = await openKeyRing(store.keys, systemClock, config.oauth, reports)
      keys.close()
      await store.ping()
    })
    return undefined
  } catch (error) {
    if (error instanceof StoreUnavailableError) return error.reason
    throw error
  }
}

/** Counts the pods that share the store, if they are to be counted; undefined where their number is known. */
export const countPods = async (config: SidegateConfig): Promise<PodCounter | undefined> => {
  if (config.pods !== 'auto' || config.store.kind !== 'redis') return undefined
  const { createPodCounter } = await import('../stores/pods.ts')
  return createPodCounter(config.store, `${hostname()}-${randomUUID()}`)
}
