import { DenseSet, type DenseSetEntry } from '../../dense-set.ts'

/** Checks its own timeouts at each tick. */
export interface Ticked {
  /** Used by the ticker. */
  setEntry?: DenseSetEntry<Ticked> | undefined
  /** @param nowMs of a monotonic clock */
  tick(nowMs: number): void
}

/**
 * How long a tick runs in one turn of the event loop, in milliseconds, so that requests do not wait for thousands of
 * connections.
 */
const sliceMs = 0.2

const shortestTickMs = 10
const longestTickMs = 1000

/** How often the shortest timeout is checked. */
const ticksPerTimeout = 4

/** While a connection discards or lingers, ticks are not longer than this, for a number of ticks. */
const soonTickMs = 250
const soonTicks = 48

/** One timer for the timeouts of all connections of a server, and none while there are no connections. */
export class TimeoutTicker<Entry extends Ticked> {
  readonly #entries = new DenseSet<Entry>()
  readonly #tickMs: number
  #timer: NodeJS.Timeout | undefined
  #soonTicks = 0
  #isVisiting = false

  /** @param timeoutsMs all timeouts of the entries; 0: no timeout */
  constructor(timeoutsMs: readonly number[]) {
    const shortestMs = Math.min(...timeoutsMs.filter(timeoutMs => timeoutMs > 0), longestTickMs * ticksPerTimeout)
    this.#tickMs = Math.max(shortestTickMs, Math.min(longestTickMs, shortestMs / ticksPerTimeout))
  }

  get size(): number {
    return this.#entries.size
  }

  add(entry: Entry): void {
    entry.setEntry = this.#entries.add(entry)
    this.#timer ??= this.#arm()
  }

  /** A second call changes nothing. */
  delete(entry: Entry): void {
    if (entry.setEntry === undefined) return
    this.#entries.remove(entry.setEntry as DenseSetEntry<Entry>)
    entry.setEntry = undefined
    if (this.#entries.size > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Uses shorter ticks for a while. */
  expectSoon(): void {
    const wasUsual = this.#soonTicks === 0
    this.#soonTicks = soonTicks
    if (!wasUsual || this.#tickMs <= soonTickMs || this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = this.#arm()
  }

  /** Visits all entries, a slice of them in each turn of the event loop. An entry may be deleted, or visited twice. */
  visitAll(visit: (entry: Entry) => void, onDone?: () => void): void {
    visitSliced(this.#entries[Symbol.iterator](), visit, onDone)
  }

  [Symbol.iterator](): IterableIterator<Entry> {
    return this.#entries[Symbol.iterator]()
  }

  #arm(): NodeJS.Timeout {
    const tickMs = this.#soonTicks > 0 ? Math.min(soonTickMs, this.#tickMs) : this.#tickMs
    return setTimeout(this.#tick, tickMs).unref()
  }

  readonly #tick = (): void => {
    if (this.#soonTicks > 0) this.#soonTicks--
    this.#timer = this.#arm()
    if (this.#isVisiting) return
    this.#isVisiting = true
    const nowMs = performance.now()
    this.visitAll(
      entry => entry.tick(nowMs),
      () => {
        this.#isVisiting = false
      },
    )
  }
}

const visitSliced = <Entry>(entries: Iterator<Entry>, visit: (entry: Entry) => void, onDone?: () => void): void => {
  const untilMs = performance.now() + sliceMs
  do {
    const next = entries.next()
    if (next.done) {
      onDone?.()
      return
    }
    visit(next.value)
  } while (performance.now() < untilMs)
  setImmediate(visitSliced, entries, visit, onDone)
}
