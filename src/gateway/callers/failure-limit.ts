import { addressKey } from '../../http/address.ts'
import type { Rate } from '../../plans/plan.ts'
import type { Limiter, Rule } from '../../stores/ports/limiter.ts'
import { createTurns } from './turns.ts'

/** Limits guessing: so many failed proofs per name and address, and ten times as many per address over all names. */
export interface FailureLimit {
  /** Counts one failed proof; the wait in milliseconds when there were too many, else 0. */
  count(name: string, address: string): Promise<number>
  /** Counts one failed proof that names nobody (a bad token) for its address alone; as `count`. */
  countAddress(address: string): Promise<number>
  /** The wait in milliseconds while this name and address are refused unheard, else 0. Costs no store call. */
  blockedMs(name: string, address: string): number
  /**
   * Runs one check of a proof, from `blockedMs` to `count`, after those before it: of many guesses sent all at once none
   * is heard before the earlier ones are counted. What is known at once, with nothing before it, waits for nothing.
   */
  inTurn<T>(name: string, address: string, check: () => T | Promise<T>): T | Promise<T>
}

/** One address may try so many names before it is refused whatever name it tries. */
const namesFactor = 10
/** Blocks are remembered for this many pairs; beyond it the oldest is forgotten and learnt again at its next failure. */
const maxBlocks = 10_000

export const createFailureLimit = (limiter: Limiter, rate: Rate, nowMs: () => number): FailureLimit => {
  const blockedUntil = new Map<string, number>()
  const turns = createTurns()
  const perName = failureRules(rate.limit, rate.windowSec)
  const perAddress = failureRules(rate.limit * namesFactor, rate.windowSec)

  const charge = async (key: string, rules: readonly Rule[]): Promise<number> => {
    const verdict = await limiter.charge({ key: `failures:${key}`, byAddress: true, rules, whenStoreFails: 'local' })
    if (verdict.allowed) return 0
    if (blockedUntil.size >= maxBlocks) blockedUntil.delete(blockedUntil.keys().next().value ?? '')
    blockedUntil.set(key, nowMs() + verdict.waitMs)
    return verdict.waitMs
  }
  const remaining = (key: string): number => {
    const until = blockedUntil.get(key)
    if (until === undefined) return 0
    const waitMs = until - nowMs()
    if (waitMs <= 0) blockedUntil.delete(key)
    return Math.max(0, waitMs)
  }

  return {
    async count(name, address) {
      const from = addressKey(address)
      const waits = [charge(`${from} ${name}`, perName), charge(from, perAddress)]
      return Math.max(...(await Promise.all(waits)))
    },
    // What stands first is no address, so no client's name can make this key another's.
    countAddress: address => charge(`token ${addressKey(address)}`, perAddress),
    blockedMs(name, address) {
      if (blockedUntil.size === 0) return 0
      const from = addressKey(address)
      return Math.max(remaining(`${from} ${name}`), remaining(from))
    },
    inTurn: (name, address, check) => turns.take(() => `${addressKey(address)} ${name}`, check),
  }
}

const failureRules = (limit: number, windowSec: number): readonly Rule[] => [
  { counter: 'failed', algorithm: 'strict', limit, windowMs: windowSec * 1000, burst: 1, mode: 'hard' },
]
