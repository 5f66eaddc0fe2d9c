import type { Clock } from '../../clock.ts'
import type { KeyRecord, KeyStore } from '../ports.ts'
import { defineScript, type RedisConnection } from './connection.ts'
import { lifetimeMs } from './lifetime.ts'
import { names } from './names.ts'

/** KEYS: the hash. ARGV: lifetime; to add a key also its kid, alg and record. Answers all records. */
const keysScript = `
local wanted = ARGV[2] ~= nil
for _, text in ipairs(redis.call('HVALS', KEYS[1])) do
  if wanted and cjson.decode(text).alg == ARGV[3] then wanted = false end
end
if wanted then redis.call('HSET', KEYS[1], ARGV[2], ARGV[4]) end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return redis.call('HVALS', KEYS[1])
`

export const createKeys = (connection: RedisConnection, clock: Clock): KeyStore => {
  const keys = defineScript(connection, 'sidegateKeys', 1, keysScript)
  return {
    load: async untilMs => toRecords(await keys(names.keys, lifetimeMs(clock, untilMs))),
    createFirst: async (record, untilMs) =>
      toRecords(await keys(names.keys, lifetimeMs(clock, untilMs), record.kid, record.alg, JSON.stringify(record))),
  }
}

const toRecords = (texts: unknown): readonly KeyRecord[] =>
  (texts as readonly string[])
    .map(text => JSON.parse(text) as KeyRecord)
    .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.kid < b.kid ? -1 : 1))
