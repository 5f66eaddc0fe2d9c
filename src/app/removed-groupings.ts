import type { Clock } from '../clock.ts'
import type { SidegateConfig } from '../config/load.ts'
import { type Poll, poll } from '../poll.ts'

/** For how long the series of a grouping stay after a reload has removed it: every scrape has seen its last values by then. */
const keptForMs = 3_600_000

const lookEveryMs = 60_000

export interface RemovedGroupings {
  /** The configuration that is served now. */
  readonly config: () => Pick<SidegateConfig, 'operations'>
  /** Told the groupings that no configuration has named for an hour, at each look: a request that began before may count late. */
  readonly drop: (groupings: ReadonlySet<string>) => void
  readonly clock: Clock
}

/** Has the series of removed groupings dropped. A grouping that comes back begins at 0, which Prometheus takes as a reset. */
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
