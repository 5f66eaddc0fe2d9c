/** A value with its index in a set. */
export interface DenseSetEntry<Value> {
  readonly value: Value
}

interface Place<Value> extends DenseSetEntry<Value> {
  nth: number
}

/**
 * An unordered set for values that are added and removed by the thousand. V8 gives a `Set` a new table now and then. An
 * old table that survives two minor collections keeps its entries alive, and the next table with its entries, until a
 * full collection. This set keeps nothing of a removed value.
 */
export class DenseSet<Value> {
  readonly #places: Place<Value>[] = []

  get size(): number {
    return this.#places.length
  }

  /** @returns the entry by which the value is removed */
  add(value: Value): DenseSetEntry<Value> {
    const place = { value, nth: this.#places.length }
    this.#places.push(place)
    return place
  }

  /** Removes a value, once. The last value takes its index. */
  remove(place: DenseSetEntry<Value>): void {
    const { nth } = place as Place<Value>
    const last = this.#places.pop()
    if (last === undefined || last === place) return
    last.nth = nth
    this.#places[nth] = last
  }

  /** During an iteration the current value may be removed. If another one is removed, a value can be visited twice. */
  *[Symbol.iterator](): IterableIterator<Value> {
    for (let nth = this.#places.length - 1; nth >= 0; nth--) {
      const place = this.#places[nth]
      if (place) yield place.value
    }
  }
}
