/** A number of requests for a period. Pure data and arithmetic; the store counts (`Limiter`). */
export interface Rate {
  readonly limit: number
  readonly windowSec: number
}

export interface Plan {
  /** Its key in the configuration; the name in the RateLimit fields and in metrics. */
  readonly name: string
  readonly title: string
  readonly rate: Rate
  /** How the rate is counted: see `Algorithm` in `stores/ports/limiter.ts`. */
  readonly algorithm: 'strict' | 'smooth' | 'calendar'
  /** How many requests `smooth` admits at once. Undefined: see `defaultBurst`. */
  readonly burst: number | undefined
  /** A shorter rate in addition to the plan's, always hard and strict: API Connect's burst limit. */
  readonly burstLimit: Rate | undefined
  /** A second rate, for a longer period. */
  readonly quota: Rate | undefined
  /** `soft`: rate and quota are counted and reported, but refuse no request. */
  readonly mode: 'hard' | 'soft'
  /** The requests that one counter covers. */
  readonly per: 'operation' | 'grouping' | 'plan'
  readonly whenStoreFails: 'local' | 'open' | 'closed'
  /** An operation's own rate in place of the plan's, with its own counter, by `METHOD /path`. */
  readonly operations: Readonly<Record<string, Rate>>
}

const unitSec = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const

/**
 * `100/1second`, `10/1minute`, `5000/2hours` to a Rate; undefined if the text is not a rate. The notation is that of
 * API Connect plans.
 */
export const parseRate = (text: string): Rate | undefined => {
  const match = /^([1-9]\d{0,8})\/([1-9]\d{0,3})?(second|minute|hour|day)s?$/.exec(text)
  if (!match) return undefined
  const unit = match[3] as keyof typeof unitSec
  return { limit: Number(match[1]), windowSec: Number(match[2] ?? 1) * unitSec[unit] }
}
