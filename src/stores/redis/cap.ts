import type { Clock } from '../../clock.ts'
import { answered, defineScript, type RedisConnection } from './connection.ts'
import { ttlMs } from './redis-keys.ts'

/**
 * KEYS: the ids of records by the end of their lifetime. ARGV: the caller's now, the new record's id, its end and lifetime, the
 * place of the last id that has to go, counted from the end. Answers with the ids that have to go.
 */
const addScript = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
local oldest = redis.call('ZRANGE', KEYS[1], 0, ARGV[5])
for _, id in ipairs(oldest) do redis.call('ZREM', KEYS[1], id) end
return oldest
`

/** Bounds how many records of one kind strangers leave, over all pods: the oldest go first. */
export interface Cap {
  /** Counts a new record. Answers how many others were removed. */
  add(id: string, untilMs: number, limit: number): Promise<number>
  /** The record is not a stranger's any more. */
  release(id: string): Promise<unknown>
}

/**
 * The ids are in a key of their own, which in a Cluster may be elsewhere than the records. So an id that has to go is looked at
 * where its record is.
 * @param remove removes a record if it is still a stranger's; answers 1 for one that it removed
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
