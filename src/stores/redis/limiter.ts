import { monotonicClock } from '../../clock.ts'
import { createChargeBatches } from '../limits/batching/charge-batches.ts'
import { createLocalFallback, type OutageOptions } from '../limits/local-fallback.ts'
import type { Limiter } from '../ports/limiter.ts'
import type { RedisUrl } from '../store-url.ts'
import { ChargeQueue } from './charge-queue.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { connectRedis, waitUntilReady } from './connection.ts'
import { unavailableReason } from './connection-errors.ts'
import { createRedisCounter } from './counter.ts'
import { redisKeys } from './redis-keys.ts'

/**
 * Half of the longest delay of a request, in milliseconds, because a charge may wait for another call before its own.
 */
const commandTimeoutMs = 50

/** If Redis sends nothing for so long while a reply is due, in milliseconds, the limiter reconnects. */
const silenceMs = 500

/** How long the start waits for Redis, in milliseconds. */
const startPatienceMs = 1000

/**
 * Plan limits over all pods that share a Redis. The limiter has a connection of its own, so that no slow command delays
 * a charge. Charges that come in one turn of the event loop are sent together, and a worker has one call at a time for
 * each key: charges that come during the call are sent in the next one. While Redis is unavailable, plans follow their
 * `whenStoreFails`. Nothing is copied into Redis when it is back, so around an outage up to one window's limit more may
 * be admitted.
 */
export const createRedisLimiter = async (url: RedisUrl, options: OutageOptions): Promise<Limiter> => {
  const clock = options.clock ?? monotonicClock
  const connection = connectRedis(url, { commandTimeoutMs, silenceMs })
  let isWhole = true
  const circuitBreaker = createCircuitBreaker(connection, (up, error) => {
    isWhole = up
    options.onStateChange(up, error)
  })
  const counter = createRedisCounter(connection)
  const batchOf = createChargeBatches(clock, counter.questionOf)
  const queue = new ChargeQueue({
    counter,
    local: createLocalFallback(options.share, clock),
    clock,
    isUnavailable: ({ charge }) => !isWhole && circuitBreaker.isOpenFor(redisKeys.counters(charge.key)),
    onFailure: ({ charge }, error) => circuitBreaker.trip(redisKeys.counters(charge.key), error),
  })

  await waitUntilReady(connection, startPatienceMs)
  if (connection.status !== 'ready') circuitBreaker.tripAll(new Error(unavailableReason(connection)))
  return {
    charge: charge => queue.charge(batchOf(charge)),
    close: async () => {
      circuitBreaker.stop()
      connection.disconnect()
    },
  }
}
