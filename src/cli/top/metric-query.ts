import { ownMember } from '../../own-member.ts'
import { type MetricKey, metrics } from '../../telemetry/metrics.ts'
import { parseSeries, type Samples, type Series } from './prometheus-text.ts'
import type { Buckets } from './quantile.ts'

/** Sums the series of a metric: counters and histograms by their increase, gauges by their value. */
export interface MetricQuery {
  /** One sum for each group of series. */
  sums(key: MetricKey, groupOf: GroupOf, counts?: (labels: Labels) => boolean): ReadonlyMap<string, number>
  /** For histograms, like `calls`, the number of observations. */
  durations(key: MetricKey, groupOf: GroupOf): ReadonlyMap<string, Buckets>
  calls(key: MetricKey, groupOf: GroupOf): ReadonlyMap<string, number>
  /** The sum of all series of the metric. */
  sum(key: MetricKey, counts?: (labels: Labels) => boolean): number
  /** The value of a counter itself. */
  state(key: MetricKey): number
  /** A label of its first series. */
  labelOf(key: MetricKey, label: string): string
}

export type Labels = Series['labels']

/** The name of the group of a series. */
export type GroupOf = (labels: Labels) => string

/** @param growth the increases of counters and histograms since the scrape before `now` */
export const createMetricQuery = (now: Samples, growth: Samples): MetricQuery => {
  const entries = Map.groupBy(toEntries(now, growth), ({ name }) => name)
  const entriesOf = (key: MetricKey, suffix = ''): readonly Entry[] => entries.get(metrics[key].name + suffix) ?? []
  return {
    sums: (key, groupOf, counts = always) =>
      sumsOf(
        entriesOf(key).filter(({ labels }) => counts(labels)),
        groupOf,
      ),
    durations: (key, groupOf) => {
      const groups = Map.groupBy(entriesOf(key, '_bucket'), ({ labels }) => groupOf(labels))
      return new Map([...groups].map(([group, buckets]) => [group, toBuckets(buckets)]))
    },
    calls: (key, groupOf) => sumsOf(entriesOf(key, '_count'), groupOf),
    sum: (key, counts = always) =>
      entriesOf(key).reduce((sum, { labels, value }) => (counts(labels) ? sum + value : sum), 0),
    state: key => entriesOf(key).reduce((sum, { state }) => sum + state, 0),
    labelOf: (key, label) => ownMember(entriesOf(key)[0]?.labels, label) ?? '',
  }
}

interface Entry extends Series {
  /** The value that is summed. */
  readonly value: number
  /** The value in the scrape. */
  readonly state: number
}

const toEntries = (now: Samples, growth: Samples): readonly Entry[] =>
  [...now].map(([series, state]) => ({ ...parseSeries(series), state, value: growth.get(series) ?? state }))

const always = (): boolean => true

const sumsOf = (entries: readonly Entry[], groupOf: GroupOf): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>()
  for (const { labels, value } of entries) {
    const group = groupOf(labels)
    sums.set(group, (sums.get(group) ?? 0) + value)
  }
  return sums
}

/** All series have the same bounds. */
const toBuckets = (entries: readonly Entry[]): Buckets => {
  const sums = sumsOf(entries, ({ le = '' }) => le.replace('Inf', 'Infinity'))
  // `Number` converts an empty text to 0.
  return new Map([...sums].map(([bound, count]) => [Number.parseFloat(bound), count]))
}
