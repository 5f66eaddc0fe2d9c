import { followEviction } from '../../app/primary.ts'
import type { SidegateConfig } from '../../app.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Recorder } from '../../telemetry/recorder.ts'

/** Warns of a Redis that may evict keys: in the log, by a gauge, and on `/readyz?verbose`. */
export interface EvictionReport {
  /** For a person; undefined if the store is not a Redis. */
  finding(): string | undefined
  close(): void
}

export const reportEviction = async (
  config: SidegateConfig,
  log: Logger,
  recorder: Recorder,
): Promise<EvictionReport> => {
  const store = config.store.kind
  const watch = await followEviction(config, () => {
    const policies = watch?.policies() ?? []
    recorder.gauge('storeNoeviction', [store]).set(policies.length === 0 ? 1 : 0)
    if (policies.length === 0) return
    const reason = `maxmemory-policy is ${policies.join(', ')}`
    log.warn({ event: 'store_evicts', store, reason }, 'Redis may evict keys: set its maxmemory-policy to noeviction')
  })
  return {
    finding: () => watch && toFinding(watch.policies()),
    close: () => watch?.close(),
  }
}

const toFinding = (policies: readonly string[] | undefined): string => {
  if (policies === undefined) return 'unknown'
  return policies.length === 0 ? 'none' : `${policies.join(', ')} (set maxmemory-policy to noeviction)`
}
