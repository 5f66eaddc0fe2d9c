import type { Clock } from '../../clock.ts'
import type { PushedRequest, PushedRequestStore } from '../ports/pushed-requests.ts'
import { createCap } from './cap.ts'
import { createExpiringMap } from './expiring-map.ts'

export const createPushedRequests = (clock: Clock): PushedRequestStore => {
  const requests = createExpiringMap<PushedRequest>(clock)
  const completed = createExpiringMap<string>(clock)
  const cap = createCap(clock)
  return {
    create: async (id, request, untilMs, limit) => {
      requests.set(id, request, untilMs)
      const shed = limit === undefined || !request.isUnproven ? [] : cap.add(id, untilMs, limit)
      for (const old of shed) requests.delete(old)
      return shed.length
    },
    find: async id => (completed.get(id) === undefined ? requests.get(id) : undefined),
    complete: async (id, interactionId, untilMs) => {
      const completedBy = completed.get(id) ?? interactionId
      if (completedBy !== interactionId) return false
      requests.delete(id)
      cap.release(id)
      completed.set(id, interactionId, untilMs)
      return true
    },
  }
}
