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

/** Who is to be asked about: the charges of one key by the same rules that came since its last call was sent. */
interface Group {
  readonly charge: Charge
  readonly ruleSet: RuleSet
  waiters: Waiter[]
}

/** What is remembered for charges by the same rules. */
interface RuleSet {
  readonly denied: DenyCache
  /** By key: who waits for a call, or for the end of the one under way. */
  readonly groups: Map<string, Group>
}

/**
 * Plan limits over all pods that share a Redis, through a connection of its own, so that nothing slow stands before a
 * charge. What comes in one turn of the event loop goes together, and a worker has one call under way for each key: charges
 * that come meanwhile go in the next one. While Redis is away plans go on as they say; nothing is seeded when it is back, so
 * up to one window's limit more may be let in around an outage.
 */
export const createRedisLimiter = async (url: RedisUrl, options: AwayOptions): Promise<Limiter> => {
  const clock = options.clock ?? monotonicClock
  const connection = connectRedis(url, { commandTimeoutMs, silenceMs })
  let isWhole = true
  const breaker = createBreaker(connection, (up, error) => {
    isWhole = up
    options.onStateChange(up, error)
  })
  const counter = createRedisCounter(connection)
  const local = createLocalShare(options.share, clock)
  const ruleSets = new WeakMap<readonly Rule[], RuleSet>()
  let due: Group[] = []

  const ruleSetOf = (rules: readonly Rule[]): RuleSet => {
    const known = ruleSets.get(rules)
    if (known) return known
    const made = { denied: createDenyCache(rules, clock), groups: new Map() }
    ruleSets.set(rules, made)
    return made
  }
  /** The verdict where no call is needed. */
  const decideHere = (charge: Charge, { denied }: RuleSet): Verdict | undefined =>
    denied.find(charge.key) ?? (isAway(charge) ? local.decide(charge) : undefined)
  const isAway = ({ key }: Charge): boolean => !isWhole && breaker.isOpenFor(names.counters(key))

  const gather = (charge: Charge, ruleSet: RuleSet): Promise<Verdict> =>
    new Promise(resolve => {
      const group = ruleSet.groups.get(charge.key)
      if (group) return void group.waiters.push(resolve)
      const made = { charge, ruleSet, waiters: [resolve] }
      ruleSet.groups.set(charge.key, made)
      askThisTurn(made)
    })
  const askThisTurn = (group: Group): void => {
    // After the sockets that are readable in this turn: what they bring goes along.
    if (due.length === 0) setImmediate(askAll)
    due.push(group)
  }
  const askAll = (): void => {
    const groups = due
    due = []
    const sentAtMs = clock.nowMs()
    for (const group of groups) ask(group, sentAtMs)
  }
  const ask = (group: Group, sentAtMs: number): void => {
    if (isAway(group.charge)) return void isDone(group)
    const { waiters } = group
    group.waiters = []
    counter.take(group.charge, waiters.length).then(
      decision => {
        settle(group, waiters, decision, sentAtMs)
        goOn(group)
      },
      error => {
        breaker.trip(names.counters(group.charge.key), error instanceof Error ? error : new Error(String(error)))
        for (const waiter of waiters) waiter(local.decide(group.charge))
        goOn(group)
      },
    )
  }
  /** With those who came while the call was under way. */
  const goOn = (group: Group): void => {
    if (!isDone(group)) askThisTurn(group)
  }
  /** Decides for those who wait where no call is needed. Whether nobody is left; then the group is forgotten. */
  const isDone = ({ charge, ruleSet, waiters }: Group): boolean => {
    for (let next = waiters[0]; next !== undefined; next = waiters[0]) {
      const verdict = decideHere(charge, ruleSet)
      if (verdict === undefined) return false
      waiters.shift()
      next(verdict)
    }
    ruleSet.groups.delete(charge.key)
    return true
  }
  const settle = (
    { charge, ruleSet }: Group,
    waiters: readonly Waiter[],
    decision: Decision,
    sentAtMs: number,
  ): void => {
    local.record(charge, decision)
    ruleSet.denied.remember(charge.key, sentAtMs, decision.rules)
    settleTogether(waiters, charge.rules, decision)
  }

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
