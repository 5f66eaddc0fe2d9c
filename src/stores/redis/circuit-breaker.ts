import { Cluster } from 'ioredis'
import { shardOf, wholeRedis } from './cluster-shards.ts'
import type { RedisConnection } from './connection.ts'
import { unavailableReason } from './connection-errors.ts'
import { redisKeys } from './redis-keys.ts'

/**
 * Whether Redis is worth asking, each part of it by itself. While a part is away nothing but probes is sent there: a
 * real call that was given up still counts.
 */
export interface CircuitBreaker {
  /** Whether the part that has this key is away. Keys are without the prefix. */
  isOpenFor(key: string): boolean
  /** Opens at once for the part that has this key, because a call for it failed. */
  trip(key: string, error: Error): void
  /** Opens at once for all of Redis. */
  tripAll(error: Error): void
  stop(): void
}

/** How often an open breaker probes, in milliseconds. */
const probeEveryMs = 100

/** How long a probe's key lives, in milliseconds. */
const probeKeyMs = 1000

/** How long a part is left alone that refuses calls but not probes (a right is missing), in milliseconds. */
const refusalPauseMs = 1000

/** A Redis that answers so answers so to every write, and the probe is one. */
const refusesEveryWrite = /^(READONLY|CLUSTERDOWN|LOADING|MASTERDOWN|BUSY|OOM|MISCONF|NOREPLICAS)\b/

/** Why a part is not asked. */
interface Opening {
  /** A key that the part has. */
  readonly probeKey: string
  readonly earliestProbeAtMs: number
}

/** @param onStateChange told when the first part goes (`up` false, with the reason) and when the last is back */
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
      // A Cluster as a whole is back when it is connected: each part of it speaks for itself from then on.
      if (part !== wholeRedis || !(connection instanceof Cluster)) await connection.set(probeKey, '', 'PX', probeKeyMs)
      close(part)
    } catch {
      // The next probe asks again.
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

/** Most keys that are tried until one is in the part that is wanted: that has one of 16384 slots at least. */
const mostTries = 2000

/** A key to probe a part with: of some keys that differ by a number, the first that the part has. */
const findKeyIn = (connection: RedisConnection, part: string): string => {
  let place = 0
  while (shardOf(connection, redisKeys.probe(place)) !== part && place < mostTries && part !== wholeRedis) place++
  return redisKeys.probe(place)
}
