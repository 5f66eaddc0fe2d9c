/** The map's value for a key, made when it is first asked for. */
export const getOrCreate = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

/** A value for two keys, made when it is first asked for; two look-ups and nothing put together. */
export const getOrCreatePair = <A, B, V>(maps: Map<A, Map<B, V>>, first: A, second: B, make: () => V): V =>
  getOrCreate(
    getOrCreate(maps, first, () => new Map<B, V>()),
    second,
    make,
  )
