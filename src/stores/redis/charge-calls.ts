import type { Decision } from '../limits/counters.ts'
import type { Rule, RuleState } from '../ports/limiter.ts'
import { createBatcher } from './batcher.ts'
import { chargeScriptFor, ruleArguments } from './charge-script.ts'
import type { RedisConnection } from './connection.ts'
import { createScriptCaller, toBulks } from './raw-evalsha.ts'

/** The counters of a charge, one for each rule. Written once: Redis is sent texts sooner that have been written before. */
export interface ChargeKeys {
  readonly first: string
  /** All of them, as they go over the wire. */
  readonly bulks: string
}

export const toChargeKeys = (keys: readonly string[]): ChargeKeys => ({ first: keys[0] ?? '', bulks: toBulks(keys) })

/**
 * Asks Redis about a charge: its counters, and how many requests. Rejects with what ioredis says. Charges by the same rules
 * that are asked about in one go are one call: a client each, they cost little more than one.
 */
export type ChargeCall = (keys: ChargeKeys, wanted: number) => Promise<Decision>

/** It takes Redis about a millisecond. */
const maxBatchSize = 100

/** One charge, as it is asked about. */
interface Asked {
  readonly keys: ChargeKeys
  readonly wanted: number
}

/** @returns makes a call for each set of rules; all of them go over the connection */
export const createChargeCalls =
  (connection: RedisConnection): ((rules: readonly Rule[]) => ChargeCall) =>
  rules => {
    const script = createScriptCaller<Buffer>(connection, chargeScriptFor(rules))
    const terms = ruleArguments(rules)
    const termBulks = toBulks(terms)

    const call = (charges: readonly Asked[]): Promise<Buffer> => {
      let bulks = ''
      for (const { keys } of charges) bulks += keys.bulks
      const wanted = wantedOf(charges)
      const keyCount = charges.length * rules.length
      return script.call(
        charges[0]?.keys.first ?? '',
        keyCount,
        keyCount + terms.length + wanted.length,
        `${bulks}${termBulks}${wanted.length === 0 ? '' : toBulks(wanted)}`,
      )
    }
    const ask = createBatcher<Asked, Buffer, Decision>(connection, {
      // A turn's charges come in one go: the limiter has gathered them.
      schedule: queueMicrotask,
      maxBatchSize,
      keyOf: ({ keys }) => keys.first,
      call,
      answerAt: (answer, nth) => decisionIn(answer, nth, rules.length),
    })
    return (keys, wanted) => ask({ keys, wanted })
  }

/** Left out where it is one of each, as mostly with many clients. */
const wantedOf = (charges: readonly Asked[]): readonly number[] =>
  charges.every(({ wanted }) => wanted === 1) ? [] : charges.map(({ wanted }) => wanted)

/** What the script answered about its nth charge. */
const decisionIn = (answer: Buffer, nth: number, ruleCount: number): Decision => {
  const from = nth * (2 + 2 * ruleCount)
  const rules: RuleState[] = []
  for (let rule = 0, at = from + 2; rule < ruleCount; rule++, at += 2) {
    rules.push({ remaining: numberAt(answer, at), waitMs: numberAt(answer, at + 1) / 1000 })
  }
  return { granted: numberAt(answer, from), grantedSoftly: numberAt(answer, from + 1), rules }
}

const numberAt = (answer: Buffer, index: number): number => answer.readDoubleLE(8 * index)
