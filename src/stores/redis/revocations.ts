import type { Clock } from '../../clock.ts'
import type { Revocation, RevocationStore } from '../ports/revocations.ts'
import { grantIdOf } from '../ports/revocations.ts'
import { tokensEndAtMs } from '../shared/grant-rules.ts'
import { createBatcher } from './batcher.ts'
import { answered, defineScript, type RedisConnection, toUnavailable } from './connection.ts'
import { createScriptCaller, toBulks } from './raw-evalsha.ts'
import { redisKeys, ttlMs } from './redis-keys.ts'

/** Entries read in one call; a longer feed is read in several. */
const pageEntries = 5000

/**
 * How far a reader goes back behind its cursor, in microseconds of Redis time. A replica that took over may lag a
 * little behind the primary whose entries were read.
 */
const overlapMicros = 2_000_000

/** KEYS: the hash of a grant's revocations, the grant. ARGV: id, lifetime, grant id. A lifetime only ever grows. */
const revokeScript = `
redis.call('HSET', KEYS[1], ARGV[1], '')
if ARGV[1] == ARGV[3] then redis.call('DEL', KEYS[2]) end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
`

/**
 * KEYS: the feed (id by its place, microseconds of Redis time, all different), its expiry (id by the millisecond of
 * Redis time when it expires). ARGV: id, lifetime. Each write removes up to 100 entries that have expired.
 */
const publishScript = `
local time = redis.call('TIME')
local nowMicros = time[1] * 1000000 + time[2]
local nowMs = math.floor(nowMicros / 1000)
local expired = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', nowMs, 'LIMIT', 0, 100)
if #expired > 0 then
  redis.call('ZREM', KEYS[1], unpack(expired))
  redis.call('ZREM', KEYS[2], unpack(expired))
end
local newest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local place = math.max(nowMicros, tonumber(newest[2] or 0) + 1)
local untilMs = math.max(nowMs + ARGV[2], tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or 0))
redis.call('ZADD', KEYS[1], string.format('%.0f', place), ARGV[1])
redis.call('ZADD', KEYS[2], string.format('%.0f', untilMs), ARGV[1])
local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
local lifetime = string.format('%.0f', last[2] - nowMs)
redis.call('PEXPIRE', KEYS[1], lifetime)
redis.call('PEXPIRE', KEYS[2], lifetime)
`

/**
 * KEYS as above. ARGV: the place after which to read, how many. Returns ids with their remaining lifetimes, and the
 * last place read. A feed that ends before the wanted place was created again, and is read from its start.
 */
const readScript = `
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local after = ARGV[1]
local newest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if newest[2] and tonumber(newest[2]) < tonumber(after) then after = '0' end
local rows = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
local entries = {}
for i = 1, #rows, 2 do
  local lifetime = (redis.call('ZSCORE', KEYS[2], rows[i]) or 0) - nowMs
  if lifetime > 0 then
    entries[#entries + 1] = rows[i]
    entries[#entries + 1] = string.format('%.0f', lifetime)
  end
  after = rows[i + 1]
end
return { after, #rows / 2, entries }
`

/**
 * KEYS: for each id the hash of its grant's revocations. ARGV: the ids. Returns a digit for each, 1 if it or its grant
 * is revoked; nothing if none of the hashes exists, which is usual.
 */
const areRevokedScript = `
if redis.call('EXISTS', unpack(KEYS)) == 0 then return '' end
local digits = {}
for i, key in ipairs(KEYS) do
  local found = redis.call('HMGET', key, ARGV[i], string.match(ARGV[i], '^[^.]*'))
  digits[i] = (found[1] or found[2]) and '1' or '0'
end
return table.concat(digits)
`

/** Longer than Redis takes for a reply, in milliseconds, and a small part of what `clockSpreadMs` adds. */
const answerMs = 2000

/** Most ids in one call. They take Redis about a tenth of a millisecond. */
const maxBatchSize = 200

const digitOne = 0x31

/**
 * Checks all ids of a turn of the event loop in one call. It is sent after the readable sockets of that turn were read.
 */
const createRevokedCheck = (connection: RedisConnection): RevocationStore['isRevoked'] => {
  const script = createScriptCaller<Buffer>(connection, areRevokedScript)
  const prefix = connection.options.keyPrefix ?? ''
  const keyOf = (id: string): string => `${prefix}${redisKeys.revoked(grantIdOf(id))}`
  return createBatcher<string, Buffer, boolean>(connection, {
    schedule: setImmediate,
    maxBatchSize,
    keyOf,
    call: ids => {
      const keys = ids.map(keyOf)
      return script.call(keys[0] ?? '', ids.length, 2 * ids.length, `${toBulks(keys)}${toBulks(ids)}`)
    },
    answerAt: (digits, index) => digits[index] === digitOne,
    toError: toUnavailable,
  })
}

export const createRevocations = (connection: RedisConnection, clock: Clock): RevocationStore => {
  const revoke = defineScript(connection, 'sidegateRevoke', 2, revokeScript)
  const publish = defineScript(connection, 'sidegatePublish', 2, publishScript)
  const read = defineScript(connection, 'sidegateReadFeed', 2, readScript)
  /** When the last access token of a grant has expired; 0 if there is no such grant. */
  const findTokensEndMs = async (grantId: string): Promise<number> => {
    const [spent, longest] = await answered(connection.hmget(redisKeys.grant(grantId), 'spent', 'longestToken'))
    return tokensEndAtMs({ spent: spent === '1', ...(longest && { longestTokenSec: Number(longest) }) }, clock.nowMs())
  }
  return {
    revoke: async (id, untilMs) => {
      const grantId = grantIdOf(id)
      // The two keys are in two slots, so this takes two steps. The step that makes the grant invalid comes last: if a
      // caller tries again after the first step alone, both are done again.
      const publishUntil = (endMs: number) => publish(redisKeys.feed, redisKeys.feedExpiry, id, ttlMs(clock, endMs))
      // Both begin in one turn of the event loop, and so are sent together.
      const tokensEndMs = id === grantId ? findTokensEndMs(grantId) : 0
      const [longestMs] = await Promise.all([tokensEndMs, publishUntil(untilMs)])
      // Usually no token lives longer than the caller states, apart from the time that the query took.
      const keptUntilMs = longestMs > untilMs + answerMs ? longestMs : untilMs
      if (keptUntilMs > untilMs) await publishUntil(keptUntilMs)
      const lifetime = ttlMs(clock, keptUntilMs)
      await revoke(redisKeys.revoked(grantId), redisKeys.grant(grantId), id, lifetime, grantId)
      return keptUntilMs
    },
    isRevoked: createRevokedCheck(connection),
    since: async cursor => {
      const revocations: Revocation[] = []
      let after = String(Math.max(0, Number(cursor ?? 0) - overlapMicros))
      let last = cursor ?? '0'
      for (;;) {
        const page = await read(redisKeys.feed, redisKeys.feedExpiry, after, pageEntries)
        const [place, rows, entries] = page as [string, number, readonly string[]]
        for (let i = 0; i < entries.length; i += 2)
          revocations.push({ id: entries[i] ?? '', untilMs: clock.nowMs() + Number(entries[i + 1]) })
        if (rows > 0) last = place
        after = place
        if (rows < pageEntries) return { revocations, cursor: last }
      }
    },
  }
}
