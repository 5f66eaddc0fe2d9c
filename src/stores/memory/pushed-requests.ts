import type { Clock } from '../../clock.ts'
import type { PushedRequest, PushedRequestStore } from '../ports/pushed-requests.ts'
import { createExpiringMap } from './expiring-map.ts'

export const createPushedRequests = (clock: Clock): PushedRequestStore => {
  const requests = createExpiringMap<PushedRequest>(clock)
  const completed = createExpiringMap<string>(clock)
  return {
    create: async (id, request, untilMs) => requests.set(id, request, untilMs),
    find: async id => (completed.get(id) === undefined ? requests.get(id) : undefined),
    complete: async (id, interactionId, untilMs) => {
      const completedBy = completed.get(id) ?? interactionId
      if (completedBy !== interactionId) return false
      requests.delete(id)
      completed.set(id, interactionId, untilMs)
      return true
    },
  }
}
