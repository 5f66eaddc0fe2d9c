import type { Clock } from '../../clock.ts'
import { createIncrementalEviction } from '../shared/incremental-eviction.ts'

/** Entries checked for each one that is written: enough to keep the map below twice its live entries. */
const evictionSteps = 3

/**
 * A map whose entries have a lifetime. Expired entries are never returned, and are removed when other entries are
 * written.
 */
export interface ExpiringMap<Value> {
  get(key: string): Value | undefined
  /** The value with the time of its expiry, milliseconds since 1970. */
  entry(key: string): Entry<Value> | undefined
  set(key: string, value: Value, untilMs: number): void
  delete(key: string): void
  /** The live entries, in the order in which their keys were first set. */
  entries(): IterableIterator<readonly [key: string, entry: Entry<Value>]>
}

export interface Entry<Value> {
  readonly value: Value
  readonly untilMs: number
}

export const createExpiringMap = <Value>(clock: Clock): ExpiringMap<Value> => {
  const map = new Map<string, Entry<Value>>()
  const isDead = (entry: Entry<Value>): boolean => entry.untilMs <= clock.nowMs()
  const evict = createIncrementalEviction(map, isDead)
  const entry = (key: string): Entry<Value> | undefined => {
    const found = map.get(key)
    return found && !isDead(found) ? found : undefined
  }
  return {
    entry,
    get: key => entry(key)?.value,
    set: (key, value, untilMs) => {
      map.set(key, { value, untilMs })
      evict(evictionSteps)
    },
    delete: key => void map.delete(key),
    entries: function* () {
      for (const pair of map) if (!isDead(pair[1])) yield pair
    },
  }
}
