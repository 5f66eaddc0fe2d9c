/** One who says a value of a gauge; the least of all counts. */
export interface Contribution {
  set(value: number): void
  /** Says nothing any more. */
  release(): void
}

/**
 * A gauge that several hold at a time: what serves an old configuration and what serves the next one, for a while. Its value
 * is the least that one of them says. While none says anything there is no series.
 */
export class MinGauge {
  readonly id: number
  readonly #markChanged: (cell: MinGauge) => void
  readonly #values = new Map<Contribution, number>()
  #changed = false
  constructor(id: number, markChanged: (cell: MinGauge) => void) {
    this.id = id
    this.#markChanged = markChanged
  }
  contribute(): Contribution {
    const contribution: Contribution = {
      set: value => {
        this.#values.set(contribution, value)
        this.#change()
      },
      release: () => {
        if (this.#values.delete(contribution)) this.#change()
      },
    }
    return contribution
  }
  take(): [number, number | null] {
    this.#changed = false
    return [this.id, this.#values.size === 0 ? null : Math.min(...this.#values.values())]
  }
  #change(): void {
    if (this.#changed) return
    this.#changed = true
    this.#markChanged(this)
  }
}
