import { setImmediate as nextTurn } from 'node:timers/promises'
import { Registry } from 'prom-client'
import type { ExpositionFormat } from './exposition-format.ts'
import type { Exemplar } from './metric-labels.ts'
import { type MetricDeclaration, type MetricKey, metrics } from './metrics.ts'

export interface Exposition {
  readonly contentType: string
  readonly body: string
}

/** Renders the current values of the series. */
export type Exposer = (format: ExpositionFormat) => Promise<Exposition>

/** One set of label values of a metric. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>
  /** Counters: the sum so far. */
  sum: number
  /** Histograms: counts per bucket, the last being +Inf. */
  readonly counts: number[]
  /** Histograms: the latest exemplar of each bucket that has one; rendered in OpenMetrics only. */
  readonly exemplars: Map<number, Exemplar>
  /** Gauges: the value of each process that is alive. */
  readonly bySource: Map<string, number>
  /** The series is not rendered any longer; a process that continues to count begins another one. */
  isDropped: boolean
}

/**
 * The number of series that are rendered at a time, and the time for it before other work of the process gets its turn,
 * in milliseconds.
 */
const seriesAtATime = 50
const turnMs = 5

/**
 * `prom-client` renders both formats. Thousands of series take a tenth of a second, so other work gets its turn in
 * between: a probe of the admin port does not wait for a scrape.
 * @param families every metric with its series, which may change
 */
export const createExposer =
  (families: ReadonlyMap<MetricKey, ReadonlyMap<string, Series>>): Exposer =>
  async format => {
    const texts: string[] = []
    let untilMs = performance.now() + turnMs
    for (const [key, family] of families) {
      const all = [...family.values()]
      let text = await write(format, metrics[key], all.slice(0, seriesAtATime))
      for (let at = seriesAtATime; at < all.length; at += seriesAtATime) {
        if (performance.now() >= untilMs) {
          await nextTurn()
          untilMs = performance.now() + turnMs
        }
        const more = await write(format, metrics[key], all.slice(at, at + seriesAtATime))
        text += more.slice(headEnd(more))
      }
      texts.push(text)
    }
    return format === 'openmetrics'
      ? { contentType: Registry.OPENMETRICS_CONTENT_TYPE, body: `${texts.join('\n')}${endOfOpenMetrics}` }
      : { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: `${texts.join('\n\n')}\n` }
  }

const endOfOpenMetrics = '\n# EOF\n'

/** The two lines of HELP and TYPE, and the lines of these series, without a newline at the end. */
const write = async (
  format: ExpositionFormat,
  declaration: MetricDeclaration,
  series: readonly Series[],
): Promise<string> => {
  const registry = new Registry()
  // The constructor accepts it, but its types do not, so the content type is set afterwards.
  if (format === 'openmetrics') registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never)
  registerSeries(registry, declaration, series)
  const text = await registry.metrics()
  return text.slice(0, format === 'openmetrics' ? -endOfOpenMetrics.length : -1)
}

/** The end of the lines of HELP and TYPE, before their last newline. */
const headEnd = (text: string): number => {
  const end = text.indexOf('\n', text.indexOf('\n') + 1)
  return end < 0 ? text.length : end
}

/** prom-client reads the values of a metric by `get()`; these come from the sums. */
const registerSeries = (
  registry: Pick<Registry, 'registerMetric'>,
  declaration: MetricDeclaration,
  all: readonly Series[],
): void => {
  const metric = {
    name: declaration.name,
    help: declaration.help,
    type: declaration.kind,
    get() {
      const values = all.flatMap(series => samplesOf(metric.name, declaration, series))
      return Promise.resolve({ name: metric.name, help: metric.help, type: metric.type, values, aggregator: 'sum' })
    },
    reset() {
      throw new TypeError('nothing resets a metric')
    },
  }
  registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0])
}

interface Sample {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  /** The object of the series itself: prom-client caches the text of this object. */
  readonly sharedLabels: Series['labels']
  readonly value: number
  readonly exemplar?: SampleExemplar
}

interface SampleExemplar {
  readonly labelSet: Readonly<Record<string, string>>
  readonly value: number
  /** In seconds. */
  readonly timestamp: number
}

const noLabels: Sample['labels'] = {}

const samplesOf = (name: string, declaration: MetricDeclaration, series: Series): readonly Sample[] => {
  switch (declaration.kind) {
    case 'counter':
      return [{ labels: noLabels, sharedLabels: series.labels, value: series.sum }]
    case 'gauge': {
      const values = [...series.bySource.values()]
      if (values.length === 0) return []
      const value = declaration.over === 'min' ? Math.min(...values) : values.reduce((sum, one) => sum + one, 0)
      return [{ labels: noLabels, sharedLabels: series.labels, value }]
    }
    case 'histogram': {
      let total = 0
      const buckets = series.counts.map((count, index) => {
        total += count
        const labels = { le: declaration.buckets[index] ?? '+Inf' }
        const sample: Sample = { metricName: `${name}_bucket`, labels, sharedLabels: series.labels, value: total }
        const exemplar = series.exemplars.get(index)
        return exemplar === undefined ? sample : { ...sample, exemplar: toSampleExemplar(exemplar) }
      })
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels: noLabels, sharedLabels: series.labels, value: series.sum },
        { metricName: `${name}_count`, labels: noLabels, sharedLabels: series.labels, value: total },
      ]
    }
  }
}

const toSampleExemplar = ({ traceId, value, atMs }: Exemplar): SampleExemplar => ({
  labelSet: { trace_id: traceId },
  value,
  timestamp: atMs / 1000,
})
