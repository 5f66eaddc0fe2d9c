import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Count, Decision } from '../limits/counters.ts'
import type { Algorithm, Rule, RuleState } from '../ports/limiter.ts'
import { chargeScript } from './charge-script.ts'
import type { RedisConnection } from './connection.ts'
import { names } from './names.ts'

/** One Redis call through rate-limiter-flexible. Rejects with an Error where Redis does not answer, and only then. */
export interface RedisCounter {
  take(count: Count, wanted: number): Promise<Decision>
}

export const createRedisCounter = (connection: RedisConnection): RedisCounter => {
  const call = defineCharge(connection)
  const limiters = new WeakMap<readonly Rule[], ChargeLimiter>()
  const limiterOf = (rules: readonly Rule[]): ChargeLimiter => {
    const known = limiters.get(rules)
    if (known) return known
    const made = new ChargeLimiter(connection, call, rules)
    limiters.set(rules, made)
    return made
  }
  return {
    take: async ({ key, rules }, wanted) => {
      const result = await settled(limiterOf(rules).consume(`{${key}}`, wanted))
      return result.decision
    },
  }
}

/** Runs the script: how many keys, the keys, then the arguments. */
type ChargeCall = (...args: readonly (string | number)[]) => Promise<readonly number[]>

const defineCharge = (connection: RedisConnection): ChargeCall => {
  connection.defineCommand('chargePlan', { lua: chargeScript })
  // ioredis adds the command as a method of this name, which its types cannot know.
  const methods = connection as unknown as { readonly chargePlan: ChargeCall }
  return (...args) => methods.chargePlan(...args)
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
  readonly #call: ChargeCall
  readonly #rules: readonly Rule[]
  readonly #suffixes: readonly string[]
  readonly #terms: readonly number[]

  constructor(connection: RedisConnection, call: ChargeCall, rules: readonly Rule[]) {
    // With the braces that the key is consumed in: names.counters(key).
    super({ storeClient: connection, keyPrefix: names.limit, points: pointsOf(rules), duration: 1 })
    this.#call = call
    this.#rules = rules
    this.#suffixes = rules.map(({ algorithm, counter }) => `:${algorithm}:${counter}`)
    this.#terms = rules.flatMap(toArguments)
  }

  /** The package's way to take points. Never asked to set or to block a key, which is what more it could be passed. */
  _upsert(key: string, wanted: number): Promise<readonly number[]> {
    return this.#call(this.#suffixes.length, ...this.#suffixes.map(suffix => key + suffix), wanted, ...this.#terms)
  }

  /** The package's way to read what came of it; it rejects where more is consumed than there are points. */
  _getRateLimiterRes(_key: string, wanted: number, answer: readonly number[]): DecidedRes {
    const [granted = 0, grantedSoftly = 0, ...pairs] = answer
    const rules = this.#rules.map(
      (_, nth): RuleState => ({ remaining: pairs[2 * nth] ?? 0, waitMs: (pairs[2 * nth + 1] ?? 1) / 1000 }),
    )
    const decision = { granted, grantedSoftly, rules }
    const remaining = rules.filter((_, nth) => this.#rules[nth]?.mode === 'hard').map(state => state.remaining)
    const consumed = this.points - Math.min(this.points, ...remaining) + wanted - granted
    return new DecidedRes(decision, this.points, consumed)
  }
}

/** The tightest limit that can refuse. */
const pointsOf = (rules: readonly Rule[]): number =>
  Math.min(Number.MAX_SAFE_INTEGER, ...rules.filter(({ mode }) => mode === 'hard').map(({ limit }) => limit))

const algorithmNumbers: Readonly<Record<Algorithm, number>> = { strict: 0, smooth: 1, calendar: 2 }

const toArguments = ({ algorithm, limit, windowMs, burst, mode }: Rule): readonly number[] => [
  algorithmNumbers[algorithm],
  limit,
  windowMs * 1000,
  burst,
  mode === 'soft' ? 1 : 0,
]

/** The package rejects with its result where a key is over its points: a value like any other. */
const settled = (consuming: Promise<RateLimiterRes>): Promise<DecidedRes> =>
  consuming.then(toDecided, (reason: unknown) => {
    if (reason instanceof RateLimiterRes) return toDecided(reason)
    throw reason
  })

const toDecided = (result: RateLimiterRes): DecidedRes => {
  if (result instanceof DecidedRes) return result
  throw new TypeError('rate-limiter-flexible did not ask for the result')
}
