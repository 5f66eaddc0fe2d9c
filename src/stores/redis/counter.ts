import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { type Count, type Decision, exactUpTo, slices } from '../limits/sliding-log.ts'
import type { RedisConnection } from './connection.ts'
import { names } from './names.ts'

/**
 * The exact sliding log of `../sliding-log.ts` in Redis, by its clock and over all pods. KEYS: a list of admissions,
 * oldest first, each `(instant in microseconds, how many so far)`; the newest entry that has left the window stays as
 * the base to count from, so a full log is at most limit + 1 entries, or `slices` + 2. ARGV as RateLimiterRedis passes
 * them: points wanted, seconds, limit, seconds. Of n points wanted it grants as many as fit, and answers in the package's
 * terms: n more than there were before, and the milliseconds until one is free.
 */
const script = `
local key, wanted, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[3]), tonumber(ARGV[4]) * 1000000
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function read(index)
  local entry = redis.call('LINDEX', key, index)
  if entry then return struct.unpack('dd', entry) end
end
local newest, total = read(-1)
if newest and newest > now + window then
  -- Redis's clock was set back by more than a window: those admissions are over.
  redis.call('DEL', key)
  newest = nil
end
local base, first = 0, 0
if newest then
  local oldest, counted = read(0)
  if oldest <= now - window then
    local second, secondCounted = read(1)
    while second and second <= now - window do
      redis.call('LPOP', key)
      counted = secondCounted
      second, secondCounted = read(1)
    end
    base, first = counted, 1
  end
else
  total = 0
end
local before = total - base
local granted = math.max(0, math.min(wanted, limit - before))
if granted > 0 then
  local stamp = now
  if limit > ${exactUpTo} then stamp = math.ceil(math.ceil(now / (window / ${slices})) * (window / ${slices})) end
  total = total + granted
  if newest and newest >= stamp then
    redis.call('LSET', key, -1, struct.pack('dd', newest, total))
  else
    redis.call('RPUSH', key, struct.pack('dd', stamp, total))
    newest = stamp
  end
  redis.call('PEXPIRE', key, math.ceil((newest + window - now) / 1000))
end
local wait = window / 1000
if total - base >= limit then
  local frees, counted = read(first)
  while total - counted >= limit do
    first = first + 1
    frees, counted = read(first)
  end
  wait = math.max(1, math.ceil((frees + window - now) / 1000))
end
return { before + wanted, wait }
`

/** One Redis call through rate-limiter-flexible. Rejects with an Error where Redis does not answer, and only then. */
export interface RedisCounter {
  take(count: Count, wanted: number): Promise<Decision>
}

export const createRedisCounter = (connection: RedisConnection): RedisCounter => {
  const byLimit = new Map<number, Map<number, RateLimiterRedis>>()
  /** The package ties limit and window to an instance; all share the one script on this connection. */
  const limiterOf = (limit: number, windowSec: number): RateLimiterRedis => {
    const byWindow = byLimit.get(limit) ?? new Map<number, RateLimiterRedis>()
    const limiter = byWindow.get(windowSec) ?? newLimiter(connection, limit, windowSec)
    byLimit.set(limit, byWindow.set(windowSec, limiter))
    return limiter
  }
  return {
    take: async (count, wanted) => {
      // Whole seconds are all the package knows; a longer window lets in less, never more.
      const limiter = limiterOf(count.limit, Math.ceil(count.windowMs / 1000))
      return toDecision(await consume(limiter, count.key, wanted), count.limit, wanted)
    },
  }
}

const newLimiter = (connection: RedisConnection, limit: number, windowSec: number): RateLimiterRedis =>
  new RateLimiterRedis({
    storeClient: connection,
    keyPrefix: names.limit,
    points: limit,
    duration: windowSec,
    customIncrTtlLuaScript: script,
  })

/** The package rejects with its result where a key is over its points: a value like any other. */
const consume = (limiter: RateLimiterRedis, key: string, wanted: number): Promise<RateLimiterRes> =>
  limiter.consume(key, wanted).catch((reason: unknown) => {
    if (reason instanceof RateLimiterRes) return reason
    throw reason
  })

const toDecision = (result: RateLimiterRes, limit: number, wanted: number): Decision => {
  const before = result.consumedPoints - wanted
  const granted = Math.max(0, Math.min(wanted, limit - before))
  return { granted, remaining: Math.max(0, limit - before - granted), waitMs: result.msBeforeNext }
}
