import { Registry } from 'prom-client'
import type { Exemplar } from './exemplar.ts'
import type { ExpositionFormat } from './exposition-format.ts'
import { type MetricDeclaration, type MetricKey, metrics } from './metrics.ts'

export interface Exposition {
  readonly contentType: string
  readonly body: string
}

/** Writes what the series hold now. */
export type Exposer = (format: ExpositionFormat) => Promise<Exposition>

/** One set of label values of a metric. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>
  /** Counters: the sum so far. */
  sum: number
  /** Histograms: counts per bucket, the last being +Inf. */
  readonly counts: number[]
  /** Histograms: the latest of each bucket that has any; of OpenMetrics alone. */
  readonly exemplars: Map<number, Exemplar>
  /** Gauges: the value of each living process. */
  readonly bySource: Map<string, number>
}

/** `prom-client` writes both formats. @param families every metric with its series, which may change */
export const createExposer = (families: ReadonlyMap<MetricKey, ReadonlyMap<string, Series>>): Exposer => {
  const registries = { text: new Registry(), openmetrics: new Registry() }
  // The typings of the constructor lag behind its code: the content type is set afterwards.
  registries.openmetrics.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never)
  for (const registry of Object.values(registries)) {
    for (const [key, family] of families) registerFamily(registry, metrics[key], family)
  }
  return async format => {
    const registry = registries[format]
    return { contentType: registry.contentType, body: await registry.metrics() }
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
  readonly exemplar?: SampleExemplar
}

interface SampleExemplar {
  readonly labelSet: Readonly<Record<string, string>>
  readonly value: number
  /** In seconds. */
  readonly timestamp: number
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
        const sample: Sample = { metricName: `${name}_bucket`, labels: { ...series.labels, le }, value: total }
        const exemplar = series.exemplars.get(index)
        return exemplar === undefined ? sample : { ...sample, exemplar: toSampleExemplar(exemplar) }
      })
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels: series.labels, value: series.sum },
        { metricName: `${name}_count`, labels: series.labels, value: total },
      ]
    }
  }
}

const toSampleExemplar = ({ traceId, value, atMs }: Exemplar): SampleExemplar => ({
  labelSet: { trace_id: traceId },
  value,
  timestamp: atMs / 1000,
})
