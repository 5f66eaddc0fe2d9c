import { Registry } from 'prom-client'
import { type MetricDeclaration, type MetricKey, metrics } from './metrics.ts'
import type { MetricChanges } from './recorder.ts'

/**
 * The sum over all processes, kept by the primary. Counters and histograms only ever grow: what a worker has handed
 * over stays when it dies. Gauges are what the living say. `prom-client` writes both exposition formats.
 */
export interface Aggregate {
  /** Adds what a process reports. `source` names the process; its cell ids are its own. */
  apply(source: string, changes: MetricChanges): void
  /** A process ended: its gauges go, its counts stay. */
  forget(source: string): void
  /** The exposition, and its content type: OpenMetrics 1.0 or Prometheus text 0.0.4. */
  expose(format: 'text' | 'openmetrics'): Promise<{ readonly contentType: string; readonly body: string }>
}

interface Series {
  readonly labels: Readonly<Record<string, string>>
  /** Counters: the sum so far. */
  sum: number
  /** Histograms: counts per bucket, the last being +Inf. */
  readonly counts: number[]
  /** Gauges: the value of each living process. */
  readonly bySource: Map<string, number>
}

export const createAggregate = (): Aggregate => {
  const families = new Map<MetricKey, Map<string, Series>>()
  const sources = new Map<string, Map<number, { readonly key: MetricKey; readonly series: Series }>>()
  for (const key of Object.keys(metrics) as MetricKey[]) families.set(key, new Map())

  const seriesOf = (key: MetricKey, labels: readonly string[]): Series => {
    const family = families.get(key) ?? new Map<string, Series>()
    const name = labels.join('\n')
    const known = family.get(name)
    if (known) return known
    const declaration: MetricDeclaration = metrics[key]
    const series: Series = {
      labels: Object.fromEntries(declaration.labels.map((label, index) => [label, labels[index] ?? ''])),
      sum: 0,
      counts: declaration.kind === 'histogram' ? new Array<number>(declaration.buckets.length + 1).fill(0) : [],
      bySource: new Map(),
    }
    family.set(name, series)
    return series
  }

  const registries = { text: new Registry(), openmetrics: new Registry() }
  // The typings of the constructor lag behind its code: the content type is set afterwards.
  registries.openmetrics.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never)
  for (const registry of Object.values(registries)) {
    for (const [key, family] of families) registerFamily(registry, metrics[key], family)
  }

  return {
    apply(source, changes) {
      const cells = sources.get(source) ?? new Map<number, { key: MetricKey; series: Series }>()
      sources.set(source, cells)
      for (const { id, key, labels } of changes.cells) cells.set(id, { key, series: seriesOf(key, labels) })
      for (const [id, value] of changes.numbers) {
        const cell = cells.get(id)
        if (!cell) continue
        if (metrics[cell.key].kind === 'gauge') cell.series.bySource.set(source, value)
        else cell.series.sum += value
      }
      for (const [id, sum, counts] of changes.histograms) {
        const series = cells.get(id)?.series
        if (!series) continue
        series.sum += sum
        counts.forEach((count, bucket) => {
          series.counts[bucket] = (series.counts[bucket] ?? 0) + count
        })
      }
    },
    forget(source) {
      for (const { series } of sources.get(source)?.values() ?? []) series.bySource.delete(source)
      sources.delete(source)
    },
    async expose(format) {
      const registry = registries[format]
      return { contentType: registry.contentType, body: await registry.metrics() }
    },
  }
}

/** prom-client asks a metric for its values by `get()`; ours come from the sums. */
const registerFamily = (
  registry: Pick<Registry, 'registerMetric'>,
  declaration: MetricDeclaration,
  family: ReadonlyMap<string, Series>,
): void => {
  const metric = {
    name: declaration.name,
    help: declaration.help,
    type: declaration.kind,
    get() {
      const values = [...family.values()].flatMap(series => samplesOf(metric.name, declaration, series))
      return Promise.resolve({ name: metric.name, help: metric.help, type: metric.type, values, aggregator: 'sum' })
    },
    reset() {
      throw new TypeError('counters never go down while the primary lives')
    },
  }
  registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0])
}

interface Sample {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

const samplesOf = (name: string, declaration: MetricDeclaration, series: Series): readonly Sample[] => {
  switch (declaration.kind) {
    case 'counter':
      return [{ labels: series.labels, value: series.sum }]
    case 'gauge': {
      const values = [...series.bySource.values()]
      if (values.length === 0) return []
      const value = declaration.over === 'min' ? Math.min(...values) : values.reduce((sum, one) => sum + one, 0)
      return [{ labels: series.labels, value }]
    }
    case 'histogram': {
      let total = 0
      const buckets = series.counts.map((count, index) => {
        total += count
        const le = declaration.buckets[index] ?? '+Inf'
        return { metricName: `${name}_bucket`, labels: { ...series.labels, le }, value: total }
      })
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels: series.labels, value: series.sum },
        { metricName: `${name}_count`, labels: series.labels, value: total },
      ]
    }
  }
}
