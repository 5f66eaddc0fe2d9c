import type { Decision } from '../limits/counters.ts'
import type { Rule, RuleState } from '../ports/limiter.ts'
import { createBatcher } from './batcher.ts'
import { chargeScriptFor, ruleArguments } from './charge-script.ts'
import type { RedisConnection } from './connection.ts'
import { createScriptCaller, toBulks } from './raw-evalsha.ts'

/**
 * The keys of the counters of a charge, one for each rule. They are encoded once, because that makes sending faster.
 */
export interface ChargeKeys {
  readonly first: string
  /** All of them as RESP bulk strings. */
  readonly bulks: string
}

export const toChargeKeys = (keys: readonly string[]): ChargeKeys => ({ first: keys[0] ?? '', bulks: toBulks(keys) })

/**
 * Sends a charge to Redis: its counters and the number of requests. Rejects with the error of ioredis. Charges by the
 * same rules that are sent together are one call: with one client each they cost little more than one.
 */
export type ChargeCall = (keys: ChargeKeys, wanted: number) => Promise<Decision>

/** Such a batch takes Redis about a millisecond. */
const maxBatchSize = 100

/** A charge in a call. */
interface Asked {
  readonly keys: ChargeKeys
  readonly wanted: number
}

/** @returns a function that creates a call for a set of rules; all calls use the connection */
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
      // The limiter has already gathered the charges of a turn of the event loop, so they come in one go.
      schedule: queueMicrotask,
      maxBatchSize,
      keyOf: ({ keys }) => keys.first,
      call,
      answerAt: (answer, nth) => decisionIn(answer, nth, rules.length),
    })
    return (keys, wanted) => ask({ keys, wanted })
  }

/** Empty if each count is 1, which is usual with many clients. */
const wantedOf = (charges: readonly Asked[]): readonly number[] =>
  charges.every(({ wanted }) => wanted === 1) ? [] : charges.map(({ wanted }) => wanted)

/** The script's reply for the nth charge. */
const decisionIn = (answer: Buffer, nth: number, ruleCount: number): Decision => {
  const from = nth * (2 + 2 * ruleCount)
  const rules: RuleState[] = []
  for (let rule = 0, at = from + 2; rule < ruleCount; rule++, at += 2) {
    rules.push({ remaining: numberAt(answer, at), waitMs: numberAt(answer, at + 1) / 1000 })
  }
  return { granted: numberAt(answer, from), grantedSoftly: numberAt(answer, from + 1), rules }
}

const numberAt = (answer: Buffer, index: number): number => answer.readDoubleLE(8 * index)
