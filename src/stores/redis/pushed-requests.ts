import type { Clock } from '../../clock.ts'
import type { PushedRequest, PushedRequestStore } from '../ports/pushed-requests.ts'
import { createCap } from './cap.ts'
import { answered, defineScript, type RedisConnection } from './connection.ts'
import { redisKeys, ttlMs } from './redis-keys.ts'

/** KEYS: the request. ARGV: lifetime, request. */
const createScript = `
redis.call('HSET', KEYS[1], 'request', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`

/**
 * KEYS: the request. ARGV: lifetime, interaction. Completing it removes the parameters. Returns 1 for its interaction.
 */
const completeScript = `
local completedBy = redis.call('HGET', KEYS[1], 'completedBy')
if completedBy and completedBy ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'completedBy', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`

/** KEYS: the request. Returns 1 if it was removed, because no interaction has completed it. */
const removeScript = `
if redis.call('HEXISTS', KEYS[1], 'completedBy') == 1 then return 0 end
return redis.call('DEL', KEYS[1])
`

export const createPushedRequests = (connection: RedisConnection, clock: Clock): PushedRequestStore => {
  const create = defineScript(connection, 'sidegatePushedCreate', 1, createScript)
  const complete = defineScript(connection, 'sidegatePushedComplete', 1, completeScript)
  const remove = defineScript(connection, 'sidegatePushedRemove', 1, removeScript)
  const cap = createCap(connection, clock, 'Pushed', redisKeys.unprovenPushed, id => remove(redisKeys.pushed(id)))
  return {
    create: async (id, request, untilMs, limit) => {
      const created = create(redisKeys.pushed(id), ttlMs(clock, untilMs), JSON.stringify(request))
      const isCounted = limit !== undefined && request.isUnproven
      const [removed] = await Promise.all([isCounted ? cap.add(id, untilMs, limit) : 0, created])
      return removed
    },
    find: async id => {
      const text = await answered(connection.hget(redisKeys.pushed(id), 'request'))
      return text === null ? undefined : (JSON.parse(text) as PushedRequest)
    },
    complete: async (id, interactionId, untilMs) => {
      const completed = complete(redisKeys.pushed(id), ttlMs(clock, untilMs), interactionId)
      const [answer] = await Promise.all([completed, cap.release(id)])
      return answer === 1
    },
  }
}
