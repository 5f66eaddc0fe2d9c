/** A map of limited size that keeps the entries that were used recently. */
export interface GenerationalCache<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
}

/**
 * Keeps at least the `limit` entries that were used last, and at most twice as many: when the young half is full, the
 * old half is dropped. That avoids the reordering of a true LRU, and an entry is moved at most once per generation.
 */
export const createGenerationalCache = <Value>(limit: number): GenerationalCache<Value> => {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()

  const set = (key: string, value: Value): void => {
    if (young.size >= limit) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }
  return {
    get: key => {
      const found = young.get(key)
      if (found !== undefined) return found
      const aged = old.get(key)
      if (aged !== undefined) set(key, aged)
      return aged
    },
    set,
    delete: key => {
      young.delete(key)
      old.delete(key)
    },
  }
}
