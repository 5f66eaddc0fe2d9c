import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Count, Decision } from '../limits/counters.ts'
import type { Rule } from '../ports/limiter.ts'
import { type ChargeCall, type ChargeKeys, createChargeCalls, toChargeKeys } from './charge-calls.ts'
import type { RedisConnection } from './connection.ts'
import { redisKeys } from './redis-keys.ts'

/** Counts in Redis through rate-limiter-flexible. Rejects with an Error where Redis does not answer, and only then. */
export interface RedisCounter {
  questionOf(count: Count): CounterQuestion
  /** What is taken in one go, without a turn of the event loop between, is asked for together. */
  take(question: CounterQuestion, wanted: number): Promise<Decision>
}

/** Whose counters are asked about. */
export interface CounterQuestion {
  readonly limiter: ChargeLimiter
  /** As the package knows it: in braces, which keep all of a charge in one slot. */
  readonly key: string
  readonly keys: ChargeKeys
}

export const createRedisCounter = (connection: RedisConnection): RedisCounter => {
  const callFor = createChargeCalls(connection)
  // ioredis puts it before the keys of the commands that it writes; these are written here.
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

/** What was decided, in the package's terms and in ours. */
class DecidedRes extends RateLimiterRes {
  readonly decision: Decision

  constructor(decision: Decision, points: number, consumedPoints: number) {
    super(Math.max(0, points - consumedPoints), 0, consumedPoints, false)
    this.decision = decision
  }
}

/**
 * The package's limiter with a count of its own. The package asks its stores for two things: to take points of a key, and to
 * read what came of it. Its own script knows one fixed window of whole seconds, and a custom one is passed no more than that
 * window: this one takes the place of both, for all rules of a charge.
 */
class ChargeLimiter extends RateLimiterRedis {
  /** What the package's `consume` comes to; its types leave it out. */
  declare readonly _consume: (key: string, wanted: number, options: CounterQuestion) => Promise<RateLimiterRes>
  readonly #call: ChargeCall
  readonly #isHard: readonly boolean[]

  constructor(connection: RedisConnection, call: ChargeCall, rules: readonly Rule[]) {
    super({ storeClient: connection, keyPrefix: redisKeys.limit, points: pointsOf(rules), duration: 1 })
    this.#call = call
    this.#isHard = rules.map(({ mode }) => mode === 'hard')
  }

  /** Without the package's way around it, to an insurance limiter: there is none. */
  ask(question: CounterQuestion, wanted: number): Promise<RateLimiterRes> {
    return this._consume(question.key, wanted, question)
  }

  /** The package's way to take points. Never asked to set or to block a key, which is what more it could be passed. */
  _upsert(_key: string, wanted: number, _ms: number, _force: boolean, { keys }: CounterQuestion): Promise<Decision> {
    return this.#call(keys, wanted)
  }

  /** The package's way to read what came of it; it rejects where more is consumed than there are points. */
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

/** The package rejects with its result where a key is over its points: a value like any other. */
const toRefusal = (reason: unknown): Decision => {
  if (reason instanceof RateLimiterRes) return toDecision(reason)
  throw reason
}

const toDecision = (result: RateLimiterRes): Decision => {
  if (result instanceof DecidedRes) return result.decision
  throw new TypeError('rate-limiter-flexible did not ask for the result')
}
