import type { Clock } from '../../clock.ts'
import type { InteractionStore } from '../ports/interactions.ts'
import { createCap } from './cap.ts'
import { answered, defineScript, type RedisConnection } from './connection.ts'
import { redisKeys, ttlMs } from './redis-keys.ts'

/** KEYS: the interaction. ARGV: expected version, its next version, record. Returns 1 if it was replaced. */
const replaceScript = `
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'record', ARGV[3])
return 1
`

/** KEYS: the interaction. ARGV: lifetime, record. */
const createScript = `
redis.call('HSET', KEYS[1], 'version', '1', 'record', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`

/** KEYS: the interaction. Returns 1 if it was removed, because no user has signed in. */
const removeScript = `
local record = redis.call('HGET', KEYS[1], 'record')
if not record or cjson.decode(record).stage ~= 'login' then return 0 end
return redis.call('DEL', KEYS[1])
`

export const createInteractions = (connection: RedisConnection, clock: Clock): InteractionStore => {
  const create = defineScript(connection, 'sidegateInteractionCreate', 1, createScript)
  const replace = defineScript(connection, 'sidegateInteractionReplace', 1, replaceScript)
  const remove = defineScript(connection, 'sidegateInteractionRemove', 1, removeScript)
  const cap = createCap(connection, clock, 'Interactions', redisKeys.unprovenInteractions, id =>
    remove(redisKeys.interaction(id)),
  )
  return {
    create: async (id, record, untilMs, limit) => {
      const created = create(redisKeys.interaction(id), ttlMs(clock, untilMs), JSON.stringify(record))
      const [removed] = await Promise.all([limit === undefined ? 0 : cap.add(id, untilMs, limit), created])
      return removed
    },
    find: async id => {
      const [record, version] = await answered(connection.hmget(redisKeys.interaction(id), 'record', 'version'))
      return record ? { record: JSON.parse(record), version: Number(version) } : undefined
    },
    replace: async (id, version, record) => {
      const isReplaced = (await replace(redisKeys.interaction(id), version, version + 1, JSON.stringify(record))) === 1
      if (isReplaced && record.stage !== 'login') await cap.release(id)
      return isReplaced
    },
  }
}
