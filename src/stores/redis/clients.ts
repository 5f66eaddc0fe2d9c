import { type ClientRecord, type ClientStore, forgottenForMs, type TakeChanges } from '../ports/clients.ts'
import { answered, defineScript, type RedisConnection } from './connection.ts'
import { redisKeys } from './redis-keys.ts'

/** Clients read in one call. */
const pageEntries = 500

/**
 * Redis keeps a list of the places of the last changes. If a reader's cursor is not in it, Redis has lost what the
 * reader has read, in a failover or with all data, or more changes than these were made meanwhile. The reader then
 * reads everything.
 */
const placesKept = 1000

/**
 * KEYS: the records by client_id, the feed (client_id by the place of its last change, microseconds of Redis time, all
 * different), when deleted clients leave the feed, the places of the last changes. ARGV: client_id, known place or
 * empty, record or empty, how long a deletion is remembered in ms, how many places are kept. Each write removes up to
 * 100 deletions that have expired.
 */
const putScript = `
local time = redis.call('TIME')
local nowMicros = time[1] * 1000000 + time[2]
local nowMs = math.floor(nowMicros / 1000)
local isThere = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1
local known = isThere and string.format('%.0f', redis.call('ZSCORE', KEYS[2], ARGV[1]) or 0) or ''
if known ~= ARGV[2] then return 0 end
local expired = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', nowMs, 'LIMIT', 0, 100)
if #expired > 0 then
  redis.call('ZREM', KEYS[2], unpack(expired))
  redis.call('ZREM', KEYS[3], unpack(expired))
end
local newest = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
local place = string.format('%.0f', math.max(nowMicros, tonumber(newest[2] or 0) + 1))
redis.call('ZADD', KEYS[2], place, ARGV[1])
redis.call('ZADD', KEYS[4], place, place)
local old = redis.call('ZRANGE', KEYS[4], 0, -1 - ARGV[5])
if #old > 0 then redis.call('ZREM', KEYS[4], unpack(old)) end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZADD', KEYS[3], string.format('%.0f', nowMs + ARGV[4]), ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  redis.call('ZREM', KEYS[3], ARGV[1])
end
return 1
`

/** KEYS: the records, the feed. ARGV: client_id. Returns its record and place, or nothing. */
const findScript = `
local record = redis.call('HGET', KEYS[1], ARGV[1])
if not record then return {} end
return { record, string.format('%.0f', redis.call('ZSCORE', KEYS[2], ARGV[1]) or 0) }
`

/**
 * KEYS: the records, the feed. ARGV: the place after which to read, how many. Returns ids with their places, and their
 * records.
 */
const readScript = `
local rows = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
local ids = {}
for i = 1, #rows, 2 do ids[#ids + 1] = rows[i] end
local records = #ids > 0 and redis.call('HMGET', KEYS[1], unpack(ids)) or {}
return { rows, records }
`

type Page = readonly [idsAndPlaces: readonly string[], records: readonly (string | null)[]]

export const createClients = (connection: RedisConnection): ClientStore => {
  const put = defineScript(connection, 'sidegateClientPut', 4, putScript)
  const find = defineScript(connection, 'sidegateClientFind', 2, findScript)
  const read = defineScript(connection, 'sidegateClientsRead', 2, readScript)

  const newestPlace = async (): Promise<string> => {
    const [, place] = await answered(connection.zrevrange(redisKeys.clientFeed, 0, 0, 'WITHSCORES'))
    return place ?? '0'
  }
  /** Whether Redis still has what was read up to this place. Before the first change there is nothing to lose. */
  const hasPlace = async (place: string): Promise<boolean> =>
    place === '0' || (await answered(connection.zscore(redisKeys.clientPlaces, place))) !== null
  /** Resolves to the last place. */
  const readAfter = async (start: string, isWhole: boolean, take: TakeChanges): Promise<string> => {
    let after = start
    for (;;) {
      const [rows, records] = (await read(redisKeys.clients, redisKeys.clientFeed, after, pageEntries)) as Page
      take(
        records.map((text, at) => ({
          client_id: rows[2 * at] ?? '',
          version: rows[2 * at + 1] ?? '',
          record: toRecord(text),
        })),
        isWhole,
      )
      after = rows.at(-1) ?? after
      if (records.length < pageEntries) return after
    }
  }
  return {
    find: async client_id => {
      const [text, version] = (await find(redisKeys.clients, redisKeys.clientFeed, client_id)) as readonly string[]
      const record = toRecord(text)
      return record && version !== undefined ? { ...record, version } : undefined
    },
    put: async (client_id, record, known) => {
      const keys = [redisKeys.clients, redisKeys.clientFeed, redisKeys.clientExpiry, redisKeys.clientPlaces] as const
      const text = record ? JSON.stringify(record) : ''
      return (await put(...keys, client_id, known ?? '', text, forgottenForMs, placesKept)) === 1
    },
    wasForgotten: async client_id => (await answered(connection.zscore(redisKeys.clientExpiry, client_id))) !== null,
    since: async (cursor, take) => {
      const newest = await newestPlace()
      if (newest === cursor) return cursor
      const isKnown = cursor !== undefined && (await hasPlace(cursor))
      return isKnown ? readAfter(cursor, false, take) : readAfter('0', true, take)
    },
  }
}

const toRecord = (text: string | null | undefined): ClientRecord | undefined => (text ? JSON.parse(text) : undefined)
