import type { MetricKey } from '../../telemetry/metrics.ts'
import { counterDeltas } from './counter-deltas.ts'
import { createMetricQuery, type GroupOf, type Labels, type MetricQuery } from './metric-query.ts'
import { type Buckets, type Quantile, quantileOf } from './quantile.ts'
import type { Scrape } from './scrape.ts'

/** What is shown: the state of now, and what happened since the scrape before. */
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
  /** One row, or none while nothing is known of any grouping. */
  readonly total: readonly GroupingRow[]
  /** The busiest first; so are the upstreams. */
  readonly groupings: readonly GroupingRow[]
  readonly upstreams: readonly UpstreamRow[]
}

/** How long things took; undefined: there were none. */
interface Durations {
  readonly p50: Quantile | undefined
  readonly p99: Quantile | undefined
}

/** An API grouping, or the sum of all. */
export interface GroupingRow extends Durations {
  readonly name: string
  readonly requestsPerSec: number
  /** Of the answers, 0 to 1; not a number where there were none. */
  readonly clientErrorShare: number
  readonly serverErrorShare: number
  /** By plans. */
  readonly refusalsPerSec: number
  readonly inFlight: number
}

/** The store, by its kind. */
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
  /** Addresses that serve, as a worker sees it on the average. */
  readonly available: number
  /** Those that are ejected or unhealthy. */
  readonly away: number
  readonly queue: number
}

/** @param before an earlier scrape of the same admin port: between the two lies what happened */
export const toSnapshot = (before: Scrape, now: Scrape): Snapshot => {
  const { sec, samples } = counterDeltas(before, now)
  const ledger = createMetricQuery(now.samples, samples)
  const rateOf = (key: MetricKey): number => ledger.sum(key) / sec
  return {
    version: ledger.labelOf('buildInfo', 'version'),
    workers: ledger.sum('workers'),
    restarts: ledger.state('workerRestarts'),
    isReloadGood: ledger.sums('configReloadSuccessful', () => '').get('') !== 0,
    tokensPerSec: rateOf('tokensIssued'),
    introspectionsPerSec: rateOf('introspections'),
    alonePerSec: ledger.sum('planDecisions', isDecidedAlone) / sec,
    stores: toStoreRows(ledger, sec),
    // No grouping has such a name.
    total: toGroupingRows(ledger, sec, () => '(all)'),
    groupings: toGroupingRows(ledger, sec, ({ grouping = '' }) => grouping).toSorted(byRate),
    upstreams: toUpstreamRows(ledger, sec).toSorted(byRate),
  }
}

const isDecidedAlone = ({ decision = '' }: Labels): boolean => ['local', 'open', 'closed'].includes(decision)

const isRefusal = ({ decision = '' }: Labels): boolean => ['denied', 'closed'].includes(decision)

const toGroupingRows = (ledger: MetricQuery, sec: number, groupOf: GroupOf): readonly GroupingRow[] => {
  const requests = ledger.sums('httpRequests', groupOf)
  const clientErrors = ledger.sums('httpRequests', groupOf, ({ code }) => code?.startsWith('4') ?? false)
  const serverErrors = ledger.sums('httpRequests', groupOf, ({ code }) => code?.startsWith('5') ?? false)
  const refusals = ledger.sums('planDecisions', groupOf, isRefusal)
  const inFlight = ledger.sums('httpRequestsInFlight', groupOf)
  const durations = ledger.durations('httpRequestDuration', groupOf)
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

const toStoreRows = (ledger: MetricQuery, sec: number): readonly StoreRow[] => {
  const groupOf: GroupOf = ({ store = '' }) => store
  const calls = ledger.calls('storeDuration', groupOf)
  const durations = ledger.durations('storeDuration', groupOf)
  return [...ledger.sums('storeUp', groupOf)].map(([name, up]) => ({
    name,
    isUp: up !== 0,
    callsPerSec: countOf(calls, name) / sec,
    ...quantilesOf(durations.get(name)),
  }))
}

const toUpstreamRows = (ledger: MetricQuery, sec: number): readonly UpstreamRow[] => {
  const groupOf: GroupOf = ({ upstream = '' }) => upstream
  const workers = Math.max(1, ledger.sum('workers'))
  const requests = ledger.calls('upstreamDuration', groupOf)
  const errors = ledger.sums('upstreamErrors', groupOf)
  const available = ledger.sums('upstreamMembers', groupOf, ({ state }) => state === 'available')
  const away = ledger.sums('upstreamMembers', groupOf, ({ state }) => state !== 'available')
  const queue = ledger.sums('upstreamQueue', groupOf)
  const durations = ledger.durations('upstreamDuration', groupOf)
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
