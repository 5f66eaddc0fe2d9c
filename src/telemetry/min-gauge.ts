/** One contribution to a gauge whose value is the minimum of all contributions. */
export interface Contribution {
  set(value: number): void
  /** Removes the contribution. */
  release(): void
}

/**
 * A gauge with several contributions at a time, because an old configuration and the next one are served side by side
 * for a while. Its value is the minimum. Without a contribution there is no series.
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
