import { createDenyCache } from '../limits/deny-cache.ts'
import { type AwayOptions, createLocalShare } from '../limits/local-share.ts'
import { type Decision, monotonicClock } from '../limits/sliding-log.ts'
import { settleTogether, type Waiter } from '../limits/verdicts.ts'
import type { Charge, Limiter, Verdict } from '../ports.ts'
import type { RedisUrl } from '../store-url.ts'
import { createBreaker } from './breaker.ts'
import { connectRedis, waitUntilReady } from './connection.ts'
import { createRedisCounter } from './counter.ts'

/** Half of what a caller may be kept waiting, in milliseconds: it may have waited for another call before its own. */
const commandTimeoutMs = 50

/** A connection that owes an answer for so long, in milliseconds, is made anew. */
const silenceMs = 500

/** How long a start waits for Redis, in milliseconds. */
const startPatienceMs = 1000

/**
 * Plan limits over all pods that share a Redis, through a connection of its own, so that nothing slow stands before a
 * charge. A worker has one call under way for each key: charges that come meanwhile go together in the next one. While
 * Redis is away plans go on as they say; nothing is seeded when it is back, so up to one window's limit more may be let
 * in around an outage.
 */
export const createRedisLimiter = async (url: RedisUrl, options: AwayOptions): Promise<Limiter> => {
  const clock = options.clock ?? monotonicClock
  const connection = connectRedis(url, { commandTimeoutMs, silenceMs })
  const breaker = createBreaker(connection, options.onStateChange)
  const counter = createRedisCounter(connection)
  const denied = createDenyCache(clock)
  const local = createLocalShare(options.share, clock)
  /** By key: who came while a call for the key was under way. */
  const gathered = new Map<string, Waiter[]>()

  /** The verdict where no call is needed. */
  const decideHere = (charge: Charge): Verdict | undefined =>
    denied.find(charge) ?? (breaker.isOpen ? local.decide(charge) : undefined)

  const takeTurns = async (charge: Charge, first: Waiter): Promise<void> => {
    let waiters = [first]
    while (waiters.length > 0) {
      gathered.set(charge.key, [])
      await decideTogether(charge, waiters)
      waiters = (gathered.get(charge.key) ?? []).filter(waiter => {
        const verdict = decideHere(charge)
        if (verdict) waiter(verdict)
        return !verdict
      })
    }
    gathered.delete(charge.key)
  }
  const decideTogether = async (charge: Charge, waiters: readonly Waiter[]): Promise<void> => {
    const sentAtMs = clock.nowMs()
    try {
      settle(charge, waiters, await counter.take(charge, waiters.length), sentAtMs)
    } catch (error) {
      breaker.trip(error instanceof Error ? error : new Error(String(error)))
      for (const waiter of waiters) waiter(local.decide(charge))
    }
  }
  const settle = (charge: Charge, waiters: readonly Waiter[], decision: Decision, sentAtMs: number): void => {
    local.record(charge, decision.granted)
    if (decision.remaining === 0) denied.remember(charge, sentAtMs, decision.waitMs)
    settleTogether(waiters, decision, charge.windowMs)
  }
  const gather = (charge: Charge): Promise<Verdict> =>
    new Promise(resolve => {
      const waiting = gathered.get(charge.key)
      if (waiting) waiting.push(resolve)
      else takeTurns(charge, resolve)
    })

  await waitUntilReady(connection, startPatienceMs)
  if (connection.status !== 'ready') breaker.trip(new Error('Redis cannot be reached'))
  return {
    charge: charge => decideHere(charge) ?? gather(charge),
    close: async () => {
      breaker.stop()
      connection.disconnect()
    },
  }
}
