import type { Charge } from '../ports/limiter.ts'
import { createIncrementalEviction } from '../shared/incremental-eviction.ts'

/** Most values of keys by address. Each is about a kilobyte, where a window is long. */
export const mostAddresses = 50_000

/** Which key a value is of. */
export type Keyed = Pick<Charge, 'key' | 'byAddress'>

/**
 * A value for each key of a charge. What is over is forgotten a few at a time, before a value is asked for and never while
 * one is in use. Of keys by address, which anybody can have as many of as they like, the newest are kept: the oldest begins
 * anew where there are more. Whoever has proven who they are is not forgotten for them.
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
    // One look in 16 calls lets a collection shrink that no new key comes to; three for a new key keep it bounded.
    if (++this.#calls % 16 === 0) {
      this.#evictNamed(1)
      this.#evictByAddress(1)
    }
    return byAddress ? this.#byAddress.get(key) : this.#named.get(key)
  }

  /** For a key that has none. */
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
