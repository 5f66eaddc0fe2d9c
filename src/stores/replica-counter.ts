import { poll } from '../poll.ts'
import { connectRedis, defineScript } from './redis/connection.ts'
import { redisKeys } from './redis/redis-keys.ts'
import type { RedisUrl } from './store-url.ts'

/** How many pods share a Redis, as far as this pod knows. */
export interface ReplicaCounter {
  /** The maximum of the last ten minutes, at least 1, because a Redis that restarts empty reports too few at first. */
  count(): number
  /** This pod's index among the live ones, from 0, in the order of their ids. */
  index(): number
  close(): void
}

/** How often a pod sends a heartbeat, in milliseconds; a multiple of it is how long the pod counts as live. */
const beatEveryMs = 2000
const believedMs = 6000

/** Longest wait for a reply, and for any data before the connection is made again, in milliseconds. */
const commandTimeoutMs = 1000
const silenceMs = 2000

/** How long a count is remembered, in milliseconds. */
const rememberedMs = 600_000

/**
 * KEYS: the pods by the millisecond of Redis time of their last heartbeat. ARGV: pod id, how long it counts as live.
 */
const beatScript = `
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], string.format('%.0f', nowMs), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.0f', nowMs - ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZRANGE', KEYS[1], 0, -1)
`

/**
 * Counts pods by their heartbeats in Redis. One counter in each pod is enough.
 * @param podId different from any other pod's
 */
export const createReplicaCounter = (url: RedisUrl, podId: string): ReplicaCounter => {
  const connection = connectRedis(url, { commandTimeoutMs, silenceMs })
  const beat = defineScript(connection, 'sidegateBeat', 1, beatScript)
  const recent = createRecentMaximum(rememberedMs, () => performance.now())
  let index = 0
  const onBeat = async (): Promise<void> => {
    try {
      const pods = (await beat(redisKeys.pods, podId, believedMs)) as string[]
      index = pods.sort().indexOf(podId)
      recent.add(pods.length)
    } catch {
      // While Redis is unavailable the last counts hold.
    }
  }
  const beating = poll(onBeat, beatEveryMs)
  connection.on('ready', onBeat)
  return {
    count: () => recent.maximum(),
    index: () => index,
    close: () => {
      beating.close()
      connection.disconnect()
    },
  }
}

/** The largest of the numbers added during the last `forMs`, at least 1. If none was added, the last ones hold. */
export const createRecentMaximum = (forMs: number, nowMs: () => number) => {
  /** Decreasing numbers with the time when each was last added; the first is the maximum. */
  let peaks: { readonly value: number; readonly atMs: number }[] = []
  return {
    add(value: number): void {
      const atMs = nowMs()
      peaks = peaks.filter(peak => peak.value > value && peak.atMs + forMs > atMs)
      peaks.push({ value, atMs })
    },
    maximum: (): number => Math.max(1, peaks[0]?.value ?? 1),
  }
}
