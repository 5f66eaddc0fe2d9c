import type { Clock } from '../../clock.ts'
import type { KeyRecord, KeyStore } from '../ports/keys.ts'
import { byAge } from '../ports/keys.ts'
import { createExpiringMap } from './expiring-map.ts'

export const createKeys = (clock: Clock): KeyStore => {
  const keys = createExpiringMap<KeyRecord>(clock)
  const oldestFirst = (): readonly KeyRecord[] => [...keys.entries()].map(([, { value }]) => value).sort(byAge)
  return {
    load: async untilMs => {
      for (const [kid, entry] of [...keys.entries()]) keys.set(kid, entry.value, Math.max(entry.untilMs, untilMs))
      return oldestFirst()
    },
    create: async (record, after, untilMs) => {
      const newest = oldestFirst().findLast(key => key.alg === record.alg)
      if (newest?.kid === after) keys.set(record.kid, record, untilMs)
      return oldestFirst()
    },
    remove: async kid => keys.delete(kid),
  }
}
