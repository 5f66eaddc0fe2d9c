/**
 * Forgets the dead entries of a map a few at a time, so that no request ever pays for a sweep. Each call looks at the
 * next `steps` entries, round and round: with two or more steps for each new entry the map stays below twice its live
 * entries. Entries set while a round is under way are looked at in that round or the next.
 */
export const createIncrementalEviction = <Key, Value>(
  map: Map<Key, Value>,
  isDead: (value: Value) => boolean,
): ((steps: number) => void) => {
  let round = map.entries()
  return steps => {
    for (let step = 0; step < steps; step++) {
      const next = round.next()
      if (next.done) {
        round = map.entries()
        return
      }
      if (isDead(next.value[1])) map.delete(next.value[0])
    }
  }
}
