import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Count, Decision } from '../limits/counters.ts'
import type { Rule } from '../ports/limiter.ts'
import { type ChargeCall, type ChargeKeys, createChargeCalls, toChargeKeys } from './charge-calls.ts'
import type { RedisConnection } from './connection.ts'
import { redisKeys } from './redis-keys.ts'

/** Counts in Redis through rate-limiter-flexible. Rejects with an Error if and only if Redis does not answer. */
export interface RedisCounter {
  questionOf(count: Count): CounterQuestion
  /** Questions of one turn of the event loop are sent together. */
  take(question: CounterQuestion, wanted: number): Promise<Decision>
}

/** Identifies the counters of a charge. */
export interface CounterQuestion {
  readonly limiter: ChargeLimiter
  /** The key for the package, in braces, which keep all counters of a charge in one slot. */
  readonly key: string
  readonly keys: ChargeKeys
}

export const createRedisCounter = (connection: RedisConnection): RedisCounter => {
  const callFor = createChargeCalls(connection)
  // ioredis puts the prefix before the keys of the commands that it writes. These commands are written here.
  const prefix = connection.options.keyPrefix ?? ''
  const limiters = new WeakMap<readonly Rule[], ChargeLimiter>()
  const limiterOf = (rules: readonly Rule[]): ChargeLimiter => {
    const known = limiters.get(rules)
    if (known) return known
    const made = new ChargeLimiter(connection, callFor(rules), rules)
    limiters.set(rules, made)
    return made
  }
  return {
    questionOf: ({ key, rules }) => ({
      limiter: limiterOf(rules),
      key: `{${key}}`,
      keys: toChargeKeys(
        rules.map(({ algorithm, counter }) => `${prefix}${redisKeys.counters(key)}:${algorithm}:${counter}`),
      ),
    }),
    take: (question, wanted) => question.limiter.ask(question, wanted).then(toDecision, toRefusal),
  }
}

/** A decision as the package's result and as ours. */
class DecidedRes extends RateLimiterRes {
  readonly decision: Decision

  constructor(decision: Decision, points: number, consumedPoints: number) {
    super(Math.max(0, points - consumedPoints), 0, consumedPoints, false)
    this.decision = decision
  }
}

/**
 * The package's limiter with our own count. The package needs two functions of a store: to consume points of a key, and
 * to interpret the result. Its own script has one fixed window of whole seconds, and a custom script gets only that
 * window. This class replaces both functions, for all rules of a charge.
 */
class ChargeLimiter extends RateLimiterRedis {
  /** The package's method behind `consume`; its types leave it out. */
  declare readonly _consume: (key: string, wanted: number, options: CounterQuestion) => Promise<RateLimiterRes>
  readonly #call: ChargeCall
  readonly #isHard: readonly boolean[]

  constructor(connection: RedisConnection, call: ChargeCall, rules: readonly Rule[]) {
    super({ storeClient: connection, keyPrefix: redisKeys.limit, points: pointsOf(rules), duration: 1 })
    this.#call = call
    this.#isHard = rules.map(({ mode }) => mode === 'hard')
  }

  /** Calls it directly, without the package's fallback to an insurance limiter, which is not set. */
  ask(question: CounterQuestion, wanted: number): Promise<RateLimiterRes> {
    return this._consume(question.key, wanted, question)
  }

  /**
   * The package's method to consume points. The other arguments are for setting and blocking a key, which is never
   * done.
   */
  _upsert(_key: string, wanted: number, _ms: number, _force: boolean, { keys }: CounterQuestion): Promise<Decision> {
    return this.#call(keys, wanted)
  }

  /** The package's method to interpret the result. The package rejects if more is consumed than there are points. */
  _getRateLimiterRes(_key: string, wanted: number, decision: Decision): DecidedRes {
    let left = this.points
    for (const [nth, isHard] of this.#isHard.entries()) {
      if (isHard) left = Math.min(left, decision.rules[nth]?.remaining ?? 0)
    }
    return new DecidedRes(decision, this.points, this.points - left + wanted - decision.granted)
  }
}

/** The tightest limit that can refuse. */
const pointsOf = (rules: readonly Rule[]): number =>
  Math.min(Number.MAX_SAFE_INTEGER, ...rules.filter(({ mode }) => mode === 'hard').map(({ limit }) => limit))

/** The package rejects with its result if a key is over its points; that is a normal decision. */
const toRefusal = (reason: unknown): Decision => {
  if (reason instanceof RateLimiterRes) return toDecision(reason)
  throw reason
}

const toDecision = (result: RateLimiterRes): Decision => {
  if (result instanceof DecidedRes) return result.decision
  throw new TypeError('rate-limiter-flexible did not ask for the result')
}
