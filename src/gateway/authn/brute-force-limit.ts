import { addressKey } from '../../http/peer/client-ip.ts'
import { createGenerationalCache } from '../../oauth/generational-cache.ts'
import type { FailureLimit as ProofFailureLimit } from '../../oauth/limits.ts'
import type { Rate } from '../../plans/plan.ts'
import type { Limiter } from '../../stores/ports/limiter.ts'
import { createFailureCount } from './failure-count.ts'
import { createKeyedMutex } from './keyed-mutex.ts'

/**
 * Limits guessing. It allows a number of failed proofs of one name at one address, ten times as many of one name over
 * all addresses, and ten times as many of one address over all names.
 */
export interface BruteForceLimit extends ProofFailureLimit {
  /** Counts one failed proof that names no client and no user (a bad token) for its address alone; as `count`. */
  countAddress(address: string): Promise<number>
}

/**
 * How many names an address may try, and from how many addresses a name may be tried, before each is blocked
 * everywhere.
 */
const totalFactor = 10

/** How long a name counts as proven at an address, and how many such pairs a process remembers. */
const provenForMs = 24 * 3_600_000
const maxProven = 10_000

export const createBruteForceLimit = (limiter: Limiter, rate: Rate, nowMs: () => number): BruteForceLimit => {
  const total = rate.limit * totalFactor
  const ofPair = createFailureCount(limiter, rate.limit, rate.windowSec, nowMs)
  const ofName = createFailureCount(limiter, total, rate.windowSec, nowMs)
  const ofAddress = createFailureCount(limiter, total, rate.windowSec, nowMs)
  const provenUntilMs = createGenerationalCache<number>(maxProven)

  // A check occupies a slot until its failure is counted. So the number of checks that run at the same time never
  // exceeds the number that may fail.
  const pairTurns = createKeyedMutex()
  const nameTurns = createKeyedMutex(name => Math.min(rate.limit, ofName.remaining(name)))
  const addressTurns = createKeyedMutex(from => Math.min(rate.limit, ofAddress.remaining(from)))

  const isProvenAt = (pair: string): boolean => (provenUntilMs.get(pair) ?? 0) > nowMs()

  return {
    async count(name, address) {
      const from = addressKey(address)
      const waits = [ofPair.add(pairKey(from, name)), ofName.add(nameKey(name)), ofAddress.add(from)]
      const [pairMs = 0, nameMs = 0, addressMs = 0] = await Promise.all(waits)
      return Math.max(pairMs, addressMs, isProvenAt(pairKey(from, name)) ? 0 : nameMs)
    },
    // The first word is not an address, so that no client's name can make this key equal to another one.
    countAddress: address => ofAddress.add(`token ${addressKey(address)}`),
    proven(name, address) {
      const pair = pairKey(addressKey(address), name)
      const untilMs = nowMs() + provenForMs
      if (untilMs - (provenUntilMs.get(pair) ?? 0) > provenForMs / 2) provenUntilMs.set(pair, untilMs)
    },
    blockedMs(name, address) {
      // Each failure is counted for its address.
      if (ofAddress.isEmpty()) return 0
      const from = addressKey(address)
      const pair = pairKey(from, name)
      const nameMs = ofName.blockedMs(nameKey(name))
      const isExempt = nameMs > 0 && isProvenAt(pair)
      return Math.max(ofPair.blockedMs(pair), ofAddress.blockedMs(from), isExempt ? 0 : nameMs)
    },
    inTurn(name, address, check) {
      const from = addressKey(address)
      const pairOf = (): string => pairKey(from, name)
      const fromOf = (): string => from
      // A name that was proven at this address does not wait for checks from other addresses.
      const nameOf = (): string => (isProvenAt(pairOf()) ? pairOf() : nameKey(name))
      const run = () => check(from)
      return pairTurns.take(pairOf, () => nameTurns.take(nameOf, () => addressTurns.take(fromOf, run)))
    },
  }
}

const pairKey = (from: string, name: string): string => `${from} ${name}`

/** The first word is not an address. */
const nameKey = (name: string): string => `account ${name}`
