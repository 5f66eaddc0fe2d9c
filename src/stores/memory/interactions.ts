import type { Clock } from '../../clock.ts'
import type { InteractionRecord, InteractionStore } from '../ports/interactions.ts'
import { createExpiringMap } from './expiring-map.ts'

export const createInteractions = (clock: Clock): InteractionStore => {
  const interactions = createExpiringMap<{ readonly record: InteractionRecord; readonly version: number }>(clock)
  return {
    create: async (id, record, untilMs) => interactions.set(id, { record, version: 1 }, untilMs),
    find: async id => interactions.get(id),
    replace: async (id, version, record) => {
      const current = interactions.entry(id)
      if (current?.value.version !== version) return false
      interactions.set(id, { record, version: version + 1 }, current.untilMs)
      return true
    },
  }
}
