import type { Exposer, Exposition, Series } from './exposition.ts'
import type { ExpositionFormat } from './exposition-format.ts'
import type { Exemplar } from './metric-labels.ts'
import { type MetricDeclaration, type MetricKey, metrics } from './metrics.ts'
import type { MetricChanges } from './recorder.ts'

/**
 * The sum over all processes, kept by the primary. Counters and histograms only grow until their series is dropped: the
 * counts that a worker has handed over remain when it exits. Gauges hold the values of the processes that are alive.
 */
export interface Aggregate {
  /** Adds what a process reports. `source` names the process; its cell ids are its own. */
  apply(source: string, changes: MetricChanges): void
  /** A process has exited: its gauges are removed, its counts remain. */
  forget(source: string): void
  /** Drops the series of these groupings, but for requests that are still under way. */
  drop(groupings: ReadonlySet<string>): void
  /** The current sums in one of the formats. */
  expose(format: ExpositionFormat): Promise<Exposition>
}

export const createAggregate = (): Aggregate => {
  const families = new Map<MetricKey, Map<string, Series>>()
  const sources = new Map<string, Map<number, SummedCell>>()
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
      exemplars: new Map(),
      bySource: new Map(),
      isDropped: false,
    }
    family.set(name, series)
    return series
  }

  /** If a worker continues to count in a series that was dropped, the series begins at 0 again. */
  const revived = (cell: SummedCell | undefined): SummedCell | undefined => {
    if (cell?.series.isDropped) cell.series = seriesOf(cell.key, cell.labels)
    return cell
  }

  let exposer: Promise<Exposer> | undefined

  return {
    apply(source, changes) {
      const cells = sources.get(source) ?? new Map<number, SummedCell>()
      sources.set(source, cells)
      for (const { id, key, labels } of changes.cells) cells.set(id, { key, labels, series: seriesOf(key, labels) })
      for (const [id, value] of changes.numbers) {
        const cell = revived(cells.get(id))
        if (!cell) continue
        if (metrics[cell.key].kind !== 'gauge') cell.series.sum += value ?? 0
        else if (value === null) cell.series.bySource.delete(source)
        else cell.series.bySource.set(source, value)
      }
      for (const [id, sum, counts, exemplars = []] of changes.histograms) {
        const series = revived(cells.get(id))?.series
        if (!series) continue
        series.sum += sum
        counts.forEach((count, bucket) => {
          series.counts[bucket] = (series.counts[bucket] ?? 0) + count
        })
        for (const exemplar of exemplars) keepLatest(series.exemplars, exemplar)
      }
      for (const id of changes.forgotten ?? []) cells.delete(id)
    },
    forget(source) {
      for (const { series } of sources.get(source)?.values() ?? []) series.bySource.delete(source)
      sources.delete(source)
    },
    drop(groupings) {
      for (const family of families.values()) {
        for (const [name, series] of family) {
          const { grouping } = series.labels
          if (grouping === undefined || !groupings.has(grouping) || !isAtRest(series)) continue
          series.isDropped = true
          family.delete(name)
        }
      }
    },
    async expose(format) {
      // Loaded at the first scrape, because the code that writes the formats takes longer to load than the rest of this
      // room.
      exposer ??= import('./exposition.ts').then(({ createExposer }) => createExposer(families))
      return (await exposer)(format)
    },
  }
}

/** A cell of a process, and the series that it counts in. */
interface SummedCell {
  readonly key: MetricKey
  readonly labels: readonly string[]
  series: Series
}

/** Whether the value of every process is 0. Only gauges have such values. */
const isAtRest = ({ bySource }: Series): boolean => [...bySource.values()].every(value => value === 0)

/** The latest exemplar of each bucket, whichever process has recorded it. */
const keepLatest = (exemplars: Map<number, Exemplar>, exemplar: Exemplar): void => {
  const known = exemplars.get(exemplar.bucket)
  if (known === undefined || known.atMs <= exemplar.atMs) exemplars.set(exemplar.bucket, exemplar)
}
