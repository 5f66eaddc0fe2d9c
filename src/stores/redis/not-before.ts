import type { Clock } from '../../clock.ts'
import type { NotBefore, NotBeforeStore } from '../ports/not-before.ts'
import { answered, defineScript, type RedisConnection } from './connection.ts'
import { redisKeys, ttlMs } from './redis-keys.ts'

/**
 * How far a reader goes back behind its cursor, in microseconds of Redis time. A replica that took over may lag behind
 * the primary whose entries were read, and so may its clock.
 */
const overlapMicros = 10_000_000

/**
 * KEYS: the not-before records by their place, microseconds of Redis time, all different. ARGV: record, lifetime, the
 * caller's now. Each write checks the oldest 100 and removes those that have expired; the times in them are the
 * callers'.
 */
const addScript = `
for _, text in ipairs(redis.call('ZRANGE', KEYS[1], 0, 99)) do
  if cjson.decode(text).untilMs <= tonumber(ARGV[3]) then redis.call('ZREM', KEYS[1], text) end
end
local time = redis.call('TIME')
local newest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local place = math.max(time[1] * 1000000 + time[2], tonumber(newest[2] or 0) + 1)
redis.call('ZADD', KEYS[1], string.format('%.0f', place), ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
`

export const createCutoffs = (connection: RedisConnection, clock: Clock): NotBeforeStore => {
  const add = defineScript(connection, 'sidegateCutOff', 1, addScript)
  return {
    add: async cutoff =>
      void (await add(redisKeys.cutoffs, JSON.stringify(cutoff), ttlMs(clock, cutoff.untilMs), clock.nowMs())),
    since: async cursor => {
      const after = cursor === undefined ? '-inf' : `(${Number(cursor) - overlapMicros}`
      const rows = await answered(connection.zrangebyscore(redisKeys.cutoffs, after, '+inf', 'WITHSCORES'))
      const cutoffs = rows.filter((_, index) => index % 2 === 0).map(text => JSON.parse(text) as NotBefore)
      const isAlive = ({ untilMs }: NotBefore): boolean => untilMs > clock.nowMs()
      return { cutoffs: cutoffs.filter(isAlive), cursor: rows.at(-1) ?? cursor ?? '0' }
    },
  }
}
