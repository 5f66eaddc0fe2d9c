import { monotonicClock } from '../../clock.ts'
import type { ChargeBatch } from '../limits/batching/charge-batch.ts'
import { createChargeBatches } from '../limits/batching/charge-batches.ts'
import { createLocalFallback, type OutageOptions } from '../limits/local-fallback.ts'
import type { Charge, Limiter, Verdict } from '../ports/limiter.ts'
import type { RedisUrl } from '../store-url.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { connectRedis, waitUntilReady } from './connection.ts'
import { unavailableReason } from './connection-errors.ts'
import { type CounterQuestion, createRedisCounter } from './counter.ts'
import { redisKeys } from './redis-keys.ts'

/** Half of what a caller may be kept waiting, in milliseconds: it may have waited for another call before its own. */
const commandTimeoutMs = 50

/** A connection that owes an answer for so long, in milliseconds, is made anew. */
const silenceMs = 500

/** How long a start waits for Redis, in milliseconds. */
const startPatienceMs = 1000

/**
 * Plan limits over all pods that share a Redis, through a connection of its own, so that nothing slow stands before a
 * charge. What comes in one turn of the event loop goes together, and a worker has one call under way for each key: charges
 * that come meanwhile go in the next one. While Redis is away plans go on as they say; nothing is seeded when it is back, so
 * up to one window's limit more may be let in around an outage.
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
  const local = createLocalFallback(options.share, clock)
  const lineOf = createChargeBatches(clock, counter.questionOf)
  let due: ChargeBatch<CounterQuestion>[] = []

  /** The verdict where no call is needed. */
  const decideHere = (line: ChargeBatch<unknown>): Verdict | undefined =>
    line.refusal() ?? (isAway(line.charge) ? local.decide(line.charge) : undefined)
  const isAway = ({ key }: Charge): boolean => !isWhole && circuitBreaker.isOpenFor(redisKeys.counters(key))

  const askThisTurn = (line: ChargeBatch<CounterQuestion>): void => {
    // After the sockets that are readable in this turn: what they bring goes along.
    if (due.length === 0) setImmediate(askAll)
    due.push(line)
    line.isAsked = true
  }
  const askAll = (): void => {
    const lines = due
    due = []
    const sentAtMs = clock.nowMs()
    for (const line of lines) ask(line, sentAtMs)
  }
  const ask = (line: ChargeBatch<CounterQuestion>, sentAtMs: number): void => {
    if (isAway(line.charge)) return void goOn(line)
    const waiters = line.takeWaiters()
    counter.take(line.question, waiters.length).then(
      decision => {
        local.record(line.charge, decision)
        line.settle(waiters, decision, sentAtMs)
        goOn(line)
      },
      error => {
        circuitBreaker.trip(
          redisKeys.counters(line.charge.key),
          error instanceof Error ? error : new Error(String(error)),
        )
        for (const waiter of waiters) waiter(local.decide(line.charge))
        goOn(line)
      },
    )
  }
  /** With those who came while the call was under way, as far as they need another one. */
  const goOn = (line: ChargeBatch<CounterQuestion>): void => {
    line.isAsked = false
    for (const waiter of line.takeWaiters()) {
      const verdict = decideHere(line)
      if (verdict === undefined) line.wait(waiter)
      else waiter(verdict)
    }
    if (line.isWaitedAt()) askThisTurn(line)
  }

  await waitUntilReady(connection, startPatienceMs)
  if (connection.status !== 'ready') circuitBreaker.tripAll(new Error(unavailableReason(connection)))
  return {
    charge: charge => {
      const line = lineOf(charge)
      return (
        decideHere(line) ??
        new Promise(resolve => {
          line.wait(resolve)
          if (!line.isAsked) askThisTurn(line)
        })
      )
    },
    close: async () => {
      circuitBreaker.stop()
      connection.disconnect()
    },
  }
}
