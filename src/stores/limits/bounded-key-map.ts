import type { Charge } from '../ports/limiter.ts'
import { createIncrementalEviction } from '../shared/incremental-eviction.ts'

/** Maximum number of values of keys by address. With a long window each takes about a kilobyte. */
export const mostAddresses = 50_000

/** The key that a value belongs to. */
export type Keyed = Pick<Charge, 'key' | 'byAddress'>

/**
 * A value for each key of a charge. Expired values are removed a few at a time before a value is looked up, and never
 * while one is in use. A client can have any number of keys by address, so only the newest of these are kept: above the
 * limit the oldest is removed and starts anew. Keys of authenticated callers are never removed to make room for them.
 */
export class BoundedKeyMap<Value> {
  readonly #named = new Map<string, Value>()
  readonly #byAddress = new Map<string, Value>()
  readonly #evictNamed: (steps: number) => void
  readonly #evictByAddress: (steps: number) => void
  #calls = 0

  constructor(isOver: (value: Value) => boolean) {
    this.#evictNamed = createIncrementalEviction(this.#named, isOver)
    this.#evictByAddress = createIncrementalEviction(this.#byAddress, isOver)
  }

  get size(): number {
    return this.#named.size + this.#byAddress.size
  }

  find({ key, byAddress }: Keyed): Value | undefined {
    // One step in 16 calls lets a map shrink that gets no new keys. Three steps for each new key keep it bounded.
    if (++this.#calls % 16 === 0) {
      this.#evictNamed(1)
      this.#evictByAddress(1)
    }
    return byAddress ? this.#byAddress.get(key) : this.#named.get(key)
  }

  /** Call it only for a key that has no value. */
  add({ key, byAddress }: Keyed, value: Value): void {
    if (byAddress) {
      this.#evictByAddress(3)
      if (this.#byAddress.size >= mostAddresses) this.#forgetOldestAddress()
      this.#byAddress.set(key, value)
    } else {
      this.#evictNamed(3)
      this.#named.set(key, value)
    }
  }

  #forgetOldestAddress(): void {
    for (const oldest of this.#byAddress.keys()) {
      this.#byAddress.delete(oldest)
      return
    }
  }
}
