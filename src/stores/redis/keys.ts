import type { Clock } from '../../clock.ts'
import type { KeyRecord, KeyStore } from '../ports/keys.ts'
import { byAge } from '../ports/keys.ts'
import { answered, defineScript, type RedisConnection } from './connection.ts'
import { redisKeys, ttlMs } from './redis-keys.ts'

/**
 * A member beside the keys while a copy into this Redis has not finished; no `kid` has a space. Its value identifies
 * the source.
 */
export const copyMark = 'copy of'

/** Begins a script: only the copy may use an incomplete store. */
const refuseHalf = `
if redis.call('HEXISTS', KEYS[1], '${copyMark}') == 1 then return false end
`

const renewAndAnswer = `
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return redis.call('HVALS', KEYS[1])
`

/** KEYS: the hash. ARGV: lifetime. Returns all records, or nothing if the copy is incomplete. */
const loadScript = refuseHalf + renewAndAnswer

/**
 * KEYS: the hash. ARGV: lifetime, alg, kid that the newest key of this alg must have or empty, kid, record. Returns all
 * records, or nothing as above. The order is that of `byAge` in `../ports/keys.ts`. Texts are compared by their bytes,
 * because Lua's comparison depends on the server's locale.
 */
const createScript = `${refuseHalf}
local function bytes(text) return (text:gsub('.', function(char) return string.format('%02x', char:byte()) end)) end
local newest
for _, text in ipairs(redis.call('HVALS', KEYS[1])) do
  local key = cjson.decode(text)
  if key.alg == ARGV[2] and (not newest or key.createdAtMs > newest.createdAtMs
    or (key.createdAtMs == newest.createdAtMs and bytes(key.kid) > bytes(newest.kid))) then newest = key end
end
if (newest and newest.kid or '') == ARGV[3] then redis.call('HSET', KEYS[1], ARGV[4], ARGV[5]) end
${renewAndAnswer}`

export const createKeys = (connection: RedisConnection, clock: Clock): KeyStore => {
  const load = defineScript(connection, 'sidegateKeysLoad', 1, loadScript)
  const create = defineScript(connection, 'sidegateKeyCreate', 1, createScript)
  return {
    load: async untilMs => toRecords(await load(redisKeys.keys, ttlMs(clock, untilMs))),
    create: async (record, after, untilMs) => {
      const expected = [record.alg, after ?? ''] as const
      const lifetime = ttlMs(clock, untilMs)
      return toRecords(await create(redisKeys.keys, lifetime, ...expected, record.kid, JSON.stringify(record)))
    },
    remove: async kid => void (await answered(connection.hdel(redisKeys.keys, kid))),
  }
}

const toRecords = (texts: unknown): readonly KeyRecord[] => {
  if (texts === null) throw new Error('an earlier `sidegate store copy` did not finish; run it again')
  return (texts as readonly string[]).map(text => JSON.parse(text) as KeyRecord).sort(byAge)
}
