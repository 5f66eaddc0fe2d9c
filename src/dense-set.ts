/** Where a value stands on a roll. */
export interface DenseSetEntry<Value> {
  readonly value: Value
}

interface Place<Value> extends DenseSetEntry<Value> {
  nth: number
}

/**
 * Values that come and go by the thousand, in no order. Of a set V8 makes a new table every so often, and an old table that
 * outlived two collections of young objects keeps what was in it alive, and the next table with what was in that, until all
 * of memory is looked through. Here nothing stays of what has left.
 */
export class DenseSet<Value> {
  readonly #places: Place<Value>[] = []

  get size(): number {
    return this.#places.length
  }

  /** @returns what it leaves with */
  add(value: Value): DenseSetEntry<Value> {
    const place = { value, nth: this.#places.length }
    this.#places.push(place)
    return place
  }

  /** Once. The last one takes its place. */
  remove(place: DenseSetEntry<Value>): void {
    const { nth } = place as Place<Value>
    const last = this.#places.pop()
    if (last === undefined || last === place) return
    last.nth = nth
    this.#places[nth] = last
  }

  /** Who is called may leave. Where others do meanwhile, one may be called twice. */
  *[Symbol.iterator](): IterableIterator<Value> {
    for (let nth = this.#places.length - 1; nth >= 0; nth--) {
      const place = this.#places[nth]
      if (place) yield place.value
    }
  }
}
