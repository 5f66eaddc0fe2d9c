/** The map's value for a key, created on first use. */
export const getOrCreate = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

/** A value for two keys, created on first use. Two lookups are faster than a combined key. */
export const getOrCreatePair = <A, B, V>(maps: Map<A, Map<B, V>>, first: A, second: B, make: () => V): V =>
  getOrCreate(
    getOrCreate(maps, first, () => new Map<B, V>()),
    second,
    make,
  )
