import type { Clock } from '../../clock.ts'
import type { KeyRecord } from '../ports/keys.ts'
import type { RedisUrl } from '../store-url.ts'
import { answered, connectRedis, defineScript, type RedisConnection, waitUntilReady } from './connection.ts'
import { copyMark } from './keys.ts'
import { redisKeys, ttlMs } from './redis-keys.ts'

/** The records to copy. */
export interface CopySource {
  /** Different for each source, and for this one with other content. */
  readonly fingerprint: string
  readonly keys: readonly KeyRecord[]
  /** When the keys expire. */
  readonly untilMs: number
}

/**
 * A Redis that a store is copied into. Between `begin` and `complete` no gateway starts with it and no command changes
 * it. Only a copy of the same source may begin again.
 */
export interface CopyTarget {
  /**
   * Writes the keys, with a mark that the copy has not finished.
   * @throws Error with one line for the operator, if a gateway uses this Redis, or it holds anything that is not of
   * this copy
   * @throws StoreUnavailableError
   */
  begin(): Promise<void>
  /**
   * Removes the mark.
   * @throws Error with one line for the operator, if a gateway started meanwhile, or the mark is gone
   */
  complete(): Promise<void>
  close(): void
}

/** Longest wait for a reply, and for any data before the connection is made again, in milliseconds. */
const commandTimeoutMs = 1000
const silenceMs = 1500

/** How long the first command waits for Redis, in milliseconds. */
const patienceMs = 1000

/** How long the mark is kept: an incomplete store must not be taken for a complete one. */
const markedForMs = 365 * 86_400_000

/**
 * KEYS: the keys' hash. ARGV: lifetime in ms, the mark's name, the source; then each kid with its record. Returns the
 * obstacle, or nothing. It is one step, so that of a gateway that creates keys and a copy one comes first.
 */
const beginScript = `
local mark = redis.call('HGET', KEYS[1], ARGV[2])
if mark and mark ~= ARGV[3] then return 'copy' end
if not mark and redis.call('EXISTS', KEYS[1]) == 1 then return 'keys' end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return ''
`

/** KEYS and ARGV as above, without records. Returns whether the mark was there. */
const completeScript = `
if redis.call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`

const elsewhere = 'copy into another Redis, or into another ?prefix= of this one'

const obstacles: ReadonlyMap<string, string> = new Map([
  ['copy', `a copy of something else has begun there and not ended: ${elsewhere}`],
  ['keys', `the Redis has keys of its own, as after a copy or with a gateway: ${elsewhere}`],
])

export const openCopyTarget = async (url: RedisUrl, clock: Clock, source: CopySource): Promise<CopyTarget> => {
  const connection = connectRedis(url, { commandTimeoutMs, silenceMs })
  const begin = defineScript(connection, 'sidegateCopyBegin', 1, beginScript)
  const complete = defineScript(connection, 'sidegateCopyComplete', 1, completeScript)
  await waitUntilReady(connection, patienceMs)
  return {
    begin: async () => {
      await requireNoGateway(connection)
      await requireNoRecords(connection)
      const records = source.keys.flatMap(key => [key.kid, JSON.stringify(key)])
      const obstacle = await begin(redisKeys.keys, markedForMs, copyMark, source.fingerprint, ...records)
      if (obstacle !== '') throw new Error(obstacles.get(String(obstacle)))
    },
    complete: async () => {
      await requireNoGateway(connection)
      const isDone = await complete(redisKeys.keys, ttlMs(clock, source.untilMs), copyMark, source.fingerprint)
      if (isDone !== 1) throw new Error(`the Redis lost copied records meanwhile: ${elsewhere}`)
    },
    close: () => connection.disconnect(),
  }
}

const requireNoGateway = async (connection: RedisConnection): Promise<void> => {
  if ((await answered(connection.exists(redisKeys.pods))) === 0) return
  throw new Error('a gateway uses the Redis, or did until a few seconds ago: stop it first')
}

/** If no copy has begun, Redis must be empty. The script tells signing keys of a gateway from these. */
const requireNoRecords = async (connection: RedisConnection): Promise<void> => {
  if ((await answered(connection.exists(redisKeys.keys))) === 1) return
  for (const name of [redisKeys.clients, redisKeys.clientFeed, redisKeys.cutoffs, redisKeys.feed])
    if ((await answered(connection.exists(name))) === 1)
      throw new Error(`the Redis has records of its own: ${elsewhere}`)
}
