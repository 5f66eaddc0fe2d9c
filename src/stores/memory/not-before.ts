import type { Clock } from '../../clock.ts'
import type { NotBefore, NotBeforeStore } from '../ports/not-before.ts'
import { createExpiringMap } from './expiring-map.ts'

export const createCutoffs = (clock: Clock): NotBeforeStore => {
  const cutoffs = createExpiringMap<NotBefore>(clock)
  let last = 0
  return {
    add: async cutoff => cutoffs.set(String(++last), cutoff, cutoff.untilMs),
    since: async cursor => {
      const seen = Number(cursor ?? 0)
      const fresh = [...cutoffs.entries()].filter(([place]) => Number(place) > seen)
      return { cutoffs: fresh.map(([, { value }]) => value), cursor: String(last) }
    },
  }
}
