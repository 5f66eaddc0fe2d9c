import type { ReplayStore } from '../ports/replays.ts'
import { defineScript, type RedisConnection } from './connection.ts'
import { redisKeys } from './redis-keys.ts'

/**
 * KEYS: the id. ARGV: until when it is remembered, in milliseconds since 1970. Redis decides by its own clock, which is
 * the same for all pods, because an id that is too old may have been spent and forgotten.
 */
const spendScript = `
local time = redis.call('TIME')
local leftMs = ARGV[1] - time[1] * 1000 - math.floor(time[2] / 1000)
if leftMs <= 0 then return 0 end
if redis.call('SET', KEYS[1], '', 'PX', string.format('%.0f', leftMs), 'NX') then return 1 end
return 0
`

export const createReplays = (connection: RedisConnection): ReplayStore => {
  const spend = defineScript(connection, 'sidegateSpend', 1, spendScript)
  return {
    // Sent in one turn of the event loop, so in one round trip. In a Cluster the ids are in several slots.
    spend: ids =>
      Promise.all(ids.map(async ({ id, untilMs }) => (await spend(redisKeys.replay(id), Math.ceil(untilMs))) === 1)),
  }
}
