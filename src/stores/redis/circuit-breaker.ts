import { Cluster } from 'ioredis'
import { shardOf, wholeRedis } from './cluster-shards.ts'
import type { RedisConnection } from './connection.ts'
import { unavailableReason } from './connection-errors.ts'
import { redisKeys } from './redis-keys.ts'

/**
 * Whether calls to Redis may be sent, for each shard separately. While a shard is unavailable only probes are sent to
 * it, because a command that timed out may still be executed and counted.
 */
export interface CircuitBreaker {
  /** Whether the shard that has this key is unavailable. Keys are without the prefix. */
  isOpenFor(key: string): boolean
  /** Opens at once for the shard that has this key, because a call to it failed. */
  trip(key: string, error: Error): void
  /** Opens at once for all shards. */
  tripAll(error: Error): void
  stop(): void
}

/** How often an open breaker probes, in milliseconds. */
const probeEveryMs = 100

/** Lifetime of a probe's key, in milliseconds. */
const probeKeyMs = 1000

/**
 * How long no calls are sent to a shard that refuses calls but accepts probes (because the user lacks a permission), in
 * milliseconds.
 */
const refusalPauseMs = 1000

/** A Redis with such an error refuses every write, so the probe detects it. */
const refusesEveryWrite = /^(READONLY|CLUSTERDOWN|LOADING|MASTERDOWN|BUSY|OOM|MISCONF|NOREPLICAS)\b/

/** The reason why a shard gets no calls. */
interface Opening {
  /** A key that the shard has. */
  readonly probeKey: string
  readonly earliestProbeAtMs: number
}

/**
 * @param onStateChange called when the first shard fails (`up` false, with the reason) and when the last one is back
 */
export const createCircuitBreaker = (
  connection: RedisConnection,
  onStateChange: (up: boolean, error?: Error) => void,
): CircuitBreaker => {
  const openings = new Map<string, Opening>()
  let timer: NodeJS.Timeout | undefined

  const open = (part: string, error: Error): void => {
    if (openings.has(part)) return
    openings.set(part, {
      probeKey: findKeyIn(connection, part),
      earliestProbeAtMs: isLastingRefusal(error) ? performance.now() + refusalPauseMs : 0,
    })
    if (openings.size > 1) return
    timer = setInterval(probeAll, probeEveryMs)
    timer.unref()
    onStateChange(false, part === wholeRedis ? error : new Error(`${part}: ${error.message}`, { cause: error }))
  }
  const close = (part: string): void => {
    if (!openings.delete(part) || openings.size > 0) return
    clearInterval(timer)
    onStateChange(true)
  }
  const probeAll = (): void => {
    if (connection.status !== 'ready') return
    for (const [part, opening] of openings) if (performance.now() >= opening.earliestProbeAtMs) probe(part, opening)
  }
  const probe = async (part: string, { probeKey }: Opening): Promise<void> => {
    try {
      // A Cluster as a whole is back when it is connected; from then on each shard is checked separately.
      if (part !== wholeRedis || !(connection instanceof Cluster)) await connection.set(probeKey, '', 'PX', probeKeyMs)
      close(part)
    } catch {
      // The next probe tries again.
    }
  }
  const onClose = (): void => open(wholeRedis, new Error(unavailableReason(connection)))

  connection.on('ready', probeAll)
  connection.on('close', onClose)
  return {
    isOpenFor: key => openings.size > 0 && (openings.has(wholeRedis) || openings.has(shardOf(connection, key))),
    trip: (key, error) => open(shardOf(connection, key), error),
    tripAll: error => open(wholeRedis, error),
    stop: () => {
      connection.off('ready', probeAll)
      connection.off('close', onClose)
      clearInterval(timer)
    },
  }
}

const isLastingRefusal = (error: Error): boolean =>
  error.name === 'ReplyError' && !refusesEveryWrite.test(error.message)

/** Maximum number of keys tried to find one in a certain shard. A shard has at least one of 16384 slots. */
const mostTries = 2000

/** A key to probe a shard with: the first of some numbered keys that the shard has. */
const findKeyIn = (connection: RedisConnection, part: string): string => {
  let place = 0
  while (shardOf(connection, redisKeys.probe(place)) !== part && place < mostTries && part !== wholeRedis) place++
  return redisKeys.probe(place)
}
