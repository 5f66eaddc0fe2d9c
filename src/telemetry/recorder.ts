import { ownMember } from '../own-member.ts'
import type { Exemplar } from './metric-labels.ts'
import { type MetricKey, metrics } from './metrics.ts'
import { MinGauge } from './min-gauge.ts'

/**
 * The metrics of one process. The hot path keeps a cell and adds to it; `takeChanges` is called now and then and
 * returns the changes since the last call, as plain data for the process that sums them. So a count is handed over at
 * most once, and the counts that were handed over survive the worker. If nothing has changed, there is no work.
 */
export interface Recorder {
  counter(key: MetricKey, labels: readonly string[]): CounterCell
  gauge(key: MetricKey, labels: readonly string[]): GaugeCell
  /**
   * A gauge with several contributions, whose value is the minimum; its metric is declared as the `min` over processes
   * too.
   */
  least(key: MetricKey, labels: readonly string[]): MinGauge
  histogram(key: MetricKey, labels: readonly string[]): HistogramCell
  /**
   * A histogram whose observations do not cause a report: they wait until something else has changed, or until the
   * primary asks for a report.
   */
  quietHistogram(key: MetricKey, labels: readonly string[]): HistogramCell
  /** Removes the cells of these groupings. Requests under way keep theirs; a later request gets a new cell. */
  forget(groupings: ReadonlySet<string>): void
  /** The changes since the last call; undefined if nothing has changed. */
  takeChanges(): MetricChanges | undefined
}

/** Plain data: new cells by id, then increments (counters, histograms) or values (gauges). */
export interface MetricChanges {
  readonly cells: readonly { readonly id: number; readonly key: MetricKey; readonly labels: readonly string[] }[]
  /** Counters: [id, increment]. Gauges: [id, value]; null if the gauge has no value any longer. */
  readonly numbers: readonly (readonly [number, number | null])[]
  readonly histograms: readonly HistogramChange[]
  /** The ids of cells that were removed. */
  readonly forgotten?: readonly number[]
}

/** [id, increment of the sum, increments per bucket, the last being +Inf, new exemplars if there are any] */
export type HistogramChange = readonly [number, number, readonly number[], (readonly Exemplar[])?]

/** @param onChange called at the first change, and again only after `takeChanges` */
export const createRecorder = (onChange: () => void = () => undefined): Recorder => {
  const cells = new Map<string, Cell>()
  const forgotten: number[] = []
  let lastId = 0
  const fresh: MetricChanges['cells'][number][] = []
  let changed: Cell[] = []
  let hasTold = false
  const markQuietly = (cell: Cell): void => void changed.push(cell)
  const markChanged = (cell: Cell): void => {
    changed.push(cell)
    if (!hasTold) tell()
  }
  const tell = (): void => {
    hasTold = true
    onChange()
  }

  const cellOf = <C extends Cell>(key: MetricKey, labels: readonly string[], make: (id: number) => C): C => {
    const name = `${key}\n${labels.join('\n')}`
    const known = cells.get(name)
    if (known) return known as C
    const cell = make(lastId++)
    cells.set(name, cell)
    fresh.push({ id: cell.id, key, labels })
    if (!hasTold) tell()
    return cell
  }

  return {
    counter: (key, labels) => cellOf(key, labels, id => new CounterCell(id, markChanged)),
    gauge: (key, labels) => cellOf(key, labels, id => new GaugeCell(id, markChanged)),
    least: (key, labels) => cellOf(key, labels, id => new MinGauge(id, markChanged)),
    histogram: (key, labels) => cellOf(key, labels, id => new HistogramCell(id, markChanged, metrics[key].buckets)),
    quietHistogram: (key, labels) =>
      cellOf(key, labels, id => new HistogramCell(id, markQuietly, metrics[key].buckets)),
    forget(groupings) {
      for (const [name, cell] of cells) {
        const [key, ...labels] = name.split('\n')
        const place =
          ownMember<{ readonly labels: readonly string[] }>(metrics, key ?? '')?.labels.indexOf('grouping') ?? -1
        const isUnderWay = cell instanceof GaugeCell && cell.value !== 0
        if (place < 0 || !groupings.has(labels[place] ?? '') || isUnderWay) continue
        cells.delete(name)
        forgotten.push(cell.id)
      }
      if (forgotten.length > 0 && !hasTold) tell()
    },
    takeChanges() {
      hasTold = false
      if (changed.length === 0 && fresh.length === 0 && forgotten.length === 0) return undefined
      const numbers: [number, number | null][] = []
      const histograms: HistogramChange[] = []
      for (const cell of changed) {
        if (cell instanceof HistogramCell) histograms.push(cell.take())
        else numbers.push(cell.take())
      }
      changed = []
      const changes = { cells: fresh.splice(0), numbers, histograms }
      return forgotten.length === 0 ? changes : { ...changes, forgotten: forgotten.splice(0) }
    },
  }
}

type Cell = CounterCell | GaugeCell | MinGauge | HistogramCell
type MarkChanged = (cell: Cell) => void

export class CounterCell {
  readonly id: number
  readonly #markChanged: MarkChanged
  #pending = 0
  constructor(id: number, markChanged: MarkChanged) {
    this.id = id
    this.#markChanged = markChanged
  }
  add(count = 1): void {
    if (this.#pending === 0) this.#markChanged(this)
    this.#pending += count
  }
  take(): [number, number] {
    const pending = this.#pending
    this.#pending = 0
    return [this.id, pending]
  }
}

export class GaugeCell {
  readonly id: number
  readonly #markChanged: MarkChanged
  #value = 0
  #changed = false
  constructor(id: number, markChanged: MarkChanged) {
    this.id = id
    this.#markChanged = markChanged
  }
  get value(): number {
    return this.#value
  }
  add(difference: number): void {
    this.set(this.#value + difference)
  }
  set(value: number): void {
    this.#value = value
    if (this.#changed) return
    this.#changed = true
    this.#markChanged(this)
  }
  take(): [number, number] {
    this.#changed = false
    return [this.id, this.#value]
  }
}

export class HistogramCell {
  readonly id: number
  readonly #markChanged: MarkChanged
  readonly #bounds: readonly number[]
  readonly #counts: number[]
  #exemplars: Exemplar[] | undefined
  #sum = 0
  #changed = false
  constructor(id: number, markChanged: MarkChanged, bounds: readonly number[]) {
    this.id = id
    this.#markChanged = markChanged
    this.#bounds = bounds
    this.#counts = new Array<number>(bounds.length + 1).fill(0)
  }
  /** @param traceId the recorded trace that the observation belongs to */
  observe(value: number, traceId?: string): void {
    const bounds = this.#bounds
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#sum += value
    if (traceId !== undefined) this.#show({ bucket, traceId, value, atMs: Date.now() })
    if (this.#changed) return
    this.#changed = true
    this.#markChanged(this)
  }
  take(): HistogramChange {
    this.#changed = false
    const sum = this.#sum
    this.#sum = 0
    const counts = [...this.#counts]
    this.#counts.fill(0)
    const exemplars = this.#exemplars?.filter(exemplar => exemplar !== undefined)
    this.#exemplars = undefined
    return exemplars === undefined ? [this.id, sum, counts] : [this.id, sum, counts, exemplars]
  }
  /** The latest exemplar of each bucket replaces the one before. */
  #show(exemplar: Exemplar): void {
    this.#exemplars ??= new Array<Exemplar>(this.#counts.length)
    this.#exemplars[exemplar.bucket] = exemplar
  }
}
