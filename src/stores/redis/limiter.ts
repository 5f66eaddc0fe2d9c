import type { Decision } from '../limits/counters.ts'
import { createDenyCache, type DenyCache } from '../limits/deny-cache.ts'
import { type AwayOptions, createLocalShare } from '../limits/local-share.ts'
import { monotonicClock } from '../limits/monotonic-clock.ts'
import { settleTogether, type Waiter } from '../limits/verdicts.ts'
import type { Charge, Limiter, Rule, Verdict } from '../ports/limiter.ts'
import type { RedisUrl } from '../store-url.ts'
import { createBreaker } from './breaker.ts'
import { connectRedis, waitUntilReady } from './connection.ts'
import { createRedisCounter } from './counter.ts'
import { names } from './names.ts'

/** Half of what a caller may be kept waiting, in milliseconds: it may have waited for another call before its own. */
const commandTimeoutMs = 50

/** A connection that owes an answer for so long, in milliseconds, is made anew. */
const silenceMs = 500

/** How long a start waits for Redis, in milliseconds. */
const startPatienceMs = 1000

/** What is remembered for charges by the same rules. */
interface RuleSet {
  readonly denied: DenyCache
  /** By key: who came while a call for the key was under way. */
  readonly gathered: Map<string, Waiter[]>
}

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
  const local = createLocalShare(options.share, clock)
  const ruleSets = new WeakMap<readonly Rule[], RuleSet>()

  const ruleSetOf = (rules: readonly Rule[]): RuleSet => {
    const known = ruleSets.get(rules)
    if (known) return known
    const made = { denied: createDenyCache(rules, clock), gathered: new Map() }
    ruleSets.set(rules, made)
    return made
  }
  /** The verdict where no call is needed. */
  const decideHere = (charge: Charge, { denied }: RuleSet): Verdict | undefined =>
    denied.find(charge.key) ?? (breaker.isOpenFor(names.counters(charge.key)) ? local.decide(charge) : undefined)

  const takeTurns = async (charge: Charge, ruleSet: RuleSet, first: Waiter): Promise<void> => {
    const { gathered } = ruleSet
    let waiters = [first]
    while (waiters.length > 0) {
      gathered.set(charge.key, [])
      await decideTogether(charge, ruleSet, waiters)
      waiters = (gathered.get(charge.key) ?? []).filter(waiter => {
        const verdict = decideHere(charge, ruleSet)
        if (verdict) waiter(verdict)
        return !verdict
      })
    }
    gathered.delete(charge.key)
  }
  const decideTogether = async (charge: Charge, ruleSet: RuleSet, waiters: readonly Waiter[]): Promise<void> => {
    const sentAtMs = clock.nowMs()
    try {
      settle(charge, ruleSet, waiters, await counter.take(charge, waiters.length), sentAtMs)
    } catch (error) {
      breaker.trip(names.counters(charge.key), error instanceof Error ? error : new Error(String(error)))
      for (const waiter of waiters) waiter(local.decide(charge))
    }
  }
  const settle = (
    charge: Charge,
    { denied }: RuleSet,
    waiters: readonly Waiter[],
    decision: Decision,
    sentAtMs: number,
  ): void => {
    local.record(charge, decision)
    denied.remember(charge.key, sentAtMs, decision.rules)
    settleTogether(waiters, charge.rules, decision)
  }
  const gather = (charge: Charge, ruleSet: RuleSet): Promise<Verdict> =>
    new Promise(resolve => {
      const waiting = ruleSet.gathered.get(charge.key)
      if (waiting) waiting.push(resolve)
      else takeTurns(charge, ruleSet, resolve)
    })

  await waitUntilReady(connection, startPatienceMs)
  if (connection.status !== 'ready') breaker.tripAll(new Error('Redis cannot be reached'))
  return {
    charge: charge => {
      const ruleSet = ruleSetOf(charge.rules)
      return decideHere(charge, ruleSet) ?? gather(charge, ruleSet)
    },
    close: async () => {
      breaker.stop()
      connection.disconnect()
    },
  }
}
