/**
 * Removes the dead entries of a map a few at a time, so that no request pays for a full scan. Each call checks the next
 * `steps` entries and starts again at the end of the map. With two or more steps for each new entry the map stays below
 * twice its live entries. Entries that are set during a round are checked in that round or the next.
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
