import type { MetricKey } from '../../telemetry/metrics.ts'
import { counterDeltas } from './counter-deltas.ts'
import { createMetricQuery, type GroupOf, type Labels, type MetricQuery } from './metric-query.ts'
import { type Buckets, type Quantile, quantileOf } from './quantile.ts'
import type { Scrape } from './scrape.ts'

/** The data of the screen: the current state, and the changes since the scrape before. */
export interface Snapshot {
  readonly version: string
  readonly workers: number
  /** Workers replaced since the program was started. */
  readonly restarts: number
  readonly isReloadGood: boolean
  readonly tokensPerSec: number
  readonly introspectionsPerSec: number
  /** Plan decisions that were made without the store. */
  readonly alonePerSec: number
  readonly stores: readonly StoreRow[]
  /** One row, or none while there is no grouping. */
  readonly total: readonly GroupingRow[]
  /** Sorted by requests, the busiest first, like the upstreams. */
  readonly groupings: readonly GroupingRow[]
  readonly upstreams: readonly UpstreamRow[]
}

/** Latencies; undefined if there were no observations. */
interface Durations {
  readonly p50: Quantile | undefined
  readonly p99: Quantile | undefined
}

/** An API grouping, or the sum of all. */
export interface GroupingRow extends Durations {
  readonly name: string
  readonly requestsPerSec: number
  /** The share of the responses, 0 to 1; NaN if there were none. */
  readonly clientErrorShare: number
  readonly serverErrorShare: number
  /** Requests refused by plans. */
  readonly refusalsPerSec: number
  readonly inFlight: number
}

/** The store, named by its kind. */
export interface StoreRow extends Durations {
  readonly name: string
  readonly isUp: boolean
  readonly callsPerSec: number
}

/** A service behind the gateway. */
export interface UpstreamRow extends Durations {
  readonly name: string
  readonly requestsPerSec: number
  readonly errorsPerSec: number
  /** The average number of available addresses over the workers. */
  readonly available: number
  /** Addresses that are ejected or unhealthy. */
  readonly away: number
  readonly queue: number
}

/** @param before an earlier scrape of the same admin port; changes are computed between the two */
export const toSnapshot = (before: Scrape, now: Scrape): Snapshot => {
  const { sec, samples } = counterDeltas(before, now)
  const metrics = createMetricQuery(now.samples, samples)
  const rateOf = (key: MetricKey): number => metrics.sum(key) / sec
  return {
    version: metrics.labelOf('buildInfo', 'version'),
    workers: metrics.sum('workers'),
    restarts: metrics.state('workerRestarts'),
    isReloadGood: metrics.sums('configReloadSuccessful', () => '').get('') !== 0,
    tokensPerSec: rateOf('tokensIssued'),
    introspectionsPerSec: rateOf('introspections'),
    alonePerSec: metrics.sum('planDecisions', isDecidedAlone) / sec,
    stores: toStoreRows(metrics, sec),
    // No grouping has this name.
    total: toGroupingRows(metrics, sec, () => '(all)'),
    groupings: toGroupingRows(metrics, sec, ({ grouping = '' }) => grouping).toSorted(byRate),
    upstreams: toUpstreamRows(metrics, sec).toSorted(byRate),
  }
}

const isDecidedAlone = ({ decision = '' }: Labels): boolean => ['local', 'open', 'closed'].includes(decision)

const isRefusal = ({ decision = '' }: Labels): boolean => ['denied', 'closed'].includes(decision)

const toGroupingRows = (metrics: MetricQuery, sec: number, groupOf: GroupOf): readonly GroupingRow[] => {
  const requests = metrics.sums('httpRequests', groupOf)
  const clientErrors = metrics.sums('httpRequests', groupOf, ({ code }) => code?.startsWith('4') ?? false)
  const serverErrors = metrics.sums('httpRequests', groupOf, ({ code }) => code?.startsWith('5') ?? false)
  const refusals = metrics.sums('planDecisions', groupOf, isRefusal)
  const inFlight = metrics.sums('httpRequestsInFlight', groupOf)
  const durations = metrics.durations('httpRequestDuration', groupOf)
  return namesIn(requests, inFlight).map(name => ({
    name,
    requestsPerSec: countOf(requests, name) / sec,
    clientErrorShare: countOf(clientErrors, name) / countOf(requests, name),
    serverErrorShare: countOf(serverErrors, name) / countOf(requests, name),
    refusalsPerSec: countOf(refusals, name) / sec,
    inFlight: countOf(inFlight, name),
    ...quantilesOf(durations.get(name)),
  }))
}

const toStoreRows = (metrics: MetricQuery, sec: number): readonly StoreRow[] => {
  const groupOf: GroupOf = ({ store = '' }) => store
  const calls = metrics.calls('storeDuration', groupOf)
  const durations = metrics.durations('storeDuration', groupOf)
  return [...metrics.sums('storeUp', groupOf)].map(([name, up]) => ({
    name,
    isUp: up !== 0,
    callsPerSec: countOf(calls, name) / sec,
    ...quantilesOf(durations.get(name)),
  }))
}

const toUpstreamRows = (metrics: MetricQuery, sec: number): readonly UpstreamRow[] => {
  const groupOf: GroupOf = ({ upstream = '' }) => upstream
  const workers = Math.max(1, metrics.sum('workers'))
  const requests = metrics.calls('upstreamDuration', groupOf)
  const errors = metrics.sums('upstreamErrors', groupOf)
  const available = metrics.sums('upstreamMembers', groupOf, ({ state }) => state === 'available')
  const away = metrics.sums('upstreamMembers', groupOf, ({ state }) => state !== 'available')
  const queue = metrics.sums('upstreamQueue', groupOf)
  const durations = metrics.durations('upstreamDuration', groupOf)
  return namesIn(requests, errors, available, away).map(name => ({
    name,
    requestsPerSec: countOf(requests, name) / sec,
    errorsPerSec: countOf(errors, name) / sec,
    available: countOf(available, name) / workers,
    away: countOf(away, name) / workers,
    queue: countOf(queue, name),
    ...quantilesOf(durations.get(name)),
  }))
}

type Counts = ReadonlyMap<string, number>

const namesIn = (...counts: readonly Counts[]): readonly string[] => [
  ...new Set(counts.flatMap(names => [...names.keys()])),
]

const countOf = (counts: Counts, name: string): number => counts.get(name) ?? 0

const quantilesOf = (durations: Buckets = new Map()): Durations => ({
  p50: quantileOf(0.5, durations),
  p99: quantileOf(0.99, durations),
})

type Ranked = Pick<GroupingRow, 'name' | 'requestsPerSec'>

const byRate = (one: Ranked, other: Ranked): number =>
  other.requestsPerSec - one.requestsPerSec || (one.name < other.name ? -1 : 1)
