import type { Clock } from '../clock.ts'
import type { SidegateConfig } from '../config/load.ts'
import { type Poll, poll } from '../poll.ts'

/**
 * How long the series of a grouping remain after a reload has removed it. By then every scraper has read the last
 * values.
 */
const keptForMs = 3_600_000

const lookEveryMs = 60_000

export interface RemovedGroupings {
  /** The configuration that is served now. */
  readonly config: () => Pick<SidegateConfig, 'operations'>
  /**
   * Called at each check with the groupings that no configuration has named for an hour. A request that began before
   * the reload may still count after the first call.
   */
  readonly drop: (groupings: ReadonlySet<string>) => void
  readonly clock: Clock
}

/**
 * Drops the series of removed groupings. A grouping that is added again begins at 0, which Prometheus treats as a
 * reset.
 */
export const followRemovedGroupings = ({ config, drop, clock }: RemovedGroupings, everyMs = lookEveryMs): Poll => {
  const lastNamedMs = new Map<string, number>()
  const look = (): void => {
    const nowMs = clock.monotonicMs()
    for (const { grouping } of config().operations) lastNamedMs.set(grouping, nowMs)
    const removed = [...lastNamedMs].filter(([, atMs]) => nowMs - atMs >= keptForMs).map(([grouping]) => grouping)
    if (removed.length > 0) drop(new Set(removed))
  }
  look()
  return poll(look, everyMs)
}
