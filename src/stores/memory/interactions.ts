import type { Clock } from '../../clock.ts'
import type { InteractionRecord, InteractionStore } from '../ports/interactions.ts'
import { createCap } from './cap.ts'
import { createExpiringMap } from './expiring-map.ts'

export const createInteractions = (clock: Clock): InteractionStore => {
  const interactions = createExpiringMap<{ readonly record: InteractionRecord; readonly version: number }>(clock)
  const cap = createCap(clock)
  return {
    create: async (id, record, untilMs, limit) => {
      interactions.set(id, { record, version: 1 }, untilMs)
      const shed = limit === undefined ? [] : cap.add(id, untilMs, limit)
      for (const old of shed) interactions.delete(old)
      return shed.length
    },
    find: async id => interactions.get(id),
    replace: async (id, version, record) => {
      const current = interactions.entry(id)
      if (current?.value.version !== version) return false
      interactions.set(id, { record, version: version + 1 }, current.untilMs)
      if (record.stage !== 'login') cap.release(id)
      return true
    },
  }
}
