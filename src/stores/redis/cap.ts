import type { Clock } from '../../clock.ts'
import { answered, defineScript, type RedisConnection } from './connection.ts'
import { ttlMs } from './redis-keys.ts'

/**
 * KEYS: the ids of records by the end of their lifetime. ARGV: the caller's now, the new record's id, its end and
 * lifetime, the position of the last id to remove, counted from the end. Returns the ids to remove.
 */
const addScript = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
local oldest = redis.call('ZRANGE', KEYS[1], 0, ARGV[5])
for _, id in ipairs(oldest) do redis.call('ZREM', KEYS[1], id) end
return oldest
`

/**
 * Bounds the number of records of one kind that unauthenticated clients create, over all pods: the oldest are removed
 * first.
 */
export interface Cap {
  /** Counts a new record. Resolves to the number of other records that were removed. */
  add(id: string, untilMs: number, limit: number): Promise<number>
  /** The record does not count any more, because its user or client has authenticated. */
  release(id: string): Promise<unknown>
}

/**
 * The ids are in a key of their own, which in a Cluster may be on another node than the records. So before an id is
 * removed, its record is checked where it is.
 * @param remove removes a record if it still counts; resolves to 1 if it did
 */
export const createCap = (
  connection: RedisConnection,
  clock: Clock,
  name: string,
  key: string,
  remove: (id: string) => Promise<unknown>,
): Cap => {
  const add = defineScript(connection, `sidegateCap${name}`, 1, addScript)
  return {
    async add(id, untilMs, limit) {
      const oldest = await add(key, clock.nowMs(), id, untilMs, ttlMs(clock, untilMs), -(limit + 1))
      if (!Array.isArray(oldest) || oldest.length === 0) return 0
      const removed = await Promise.all(oldest.map(old => remove(String(old))))
      return removed.filter(count => count === 1).length
    },
    release: id => answered(connection.zrem(key, id)),
  }
}
