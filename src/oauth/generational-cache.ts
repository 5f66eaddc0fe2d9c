/** A map that holds on to what was used lately and never grows beyond a bound. */
export interface GenerationalCache<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
}

/**
 * Keeps at least the `limit` entries used last and at most twice as many: when the young half is full, the old half
 * goes whole. That spares the reordering of a true LRU, and no entry is touched more than once per generation.
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
