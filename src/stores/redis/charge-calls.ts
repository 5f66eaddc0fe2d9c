import { Cluster } from 'ioredis'
import type { Decision } from '../limits/counters.ts'
import type { Rule, RuleState } from '../ports/limiter.ts'
import { chargeScriptFor, ruleArguments } from './charge-script.ts'
import type { RedisConnection } from './connection.ts'
import { createScriptCaller, toBulks } from './script-call.ts'

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

/** Most charges in one call. Redis does nothing else meanwhile: for about a millisecond. */
const mostTogether = 100

/** A charge that waits for its call, or for the answer. */
interface Asked {
  readonly keys: ChargeKeys
  readonly wanted: number
  readonly resolve: (decision: Decision) => void
  readonly reject: (reason: unknown) => void
}

/** @returns makes a call for each set of rules; all of them go over the connection */
export const createChargeCalls = (connection: RedisConnection): ((rules: readonly Rule[]) => ChargeCall) => {
  // In a Cluster a script has the keys of one slot, and each charge is a slot by itself.
  let together = connection instanceof Cluster ? 1 : mostTogether
  return rules => {
    const script = createScriptCaller(connection, chargeScriptFor(rules))
    const terms = ruleArguments(rules)
    const termBulks = toBulks(terms)
    let waiting: Asked[] = []

    const sendAll = (): void => {
      const all = waiting
      waiting = []
      for (let from = 0; from < all.length; from += together) send(all.slice(from, from + together))
    }
    const send = (charges: readonly Asked[]): void => {
      let bulks = ''
      for (const { keys } of charges) bulks += keys.bulks
      const wanted = wantedOf(charges)
      const keyCount = charges.length * rules.length
      script
        .call(
          charges[0]?.keys.first ?? '',
          keyCount,
          keyCount + terms.length + wanted.length,
          `${bulks}${termBulks}${wanted.length === 0 ? '' : toBulks(wanted)}`,
        )
        .then(
          answer => answerAll(charges, answer),
          reason => refuseAll(charges, reason),
        )
    }
    const answerAll = (charges: readonly Asked[], answer: Buffer): void => {
      for (const [nth, { resolve }] of charges.entries()) resolve(decisionIn(answer, nth, rules.length))
    }
    const refuseAll = (charges: readonly Asked[], reason: unknown): void => {
      if (charges.length > 1 && isCrossSlot(reason)) {
        together = 1
        for (const charge of charges) send([charge])
      } else {
        for (const { reject } of charges) reject(reason)
      }
    }
    return (keys, wanted) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) queueMicrotask(sendAll)
        waiting.push({ keys, wanted, resolve, reject })
      })
  }
}

/** Left out where it is one of each, as mostly with many clients. */
const wantedOf = (charges: readonly Asked[]): readonly number[] =>
  charges.every(({ wanted }) => wanted === 1) ? [] : charges.map(({ wanted }) => wanted)

/**
 * Some servers are clusters behind one address. They say so before the script runs, so it can be sent again: to them
 * charges go one by one from then on.
 */
const isCrossSlot = (reason: unknown): boolean => reason instanceof Error && reason.message.includes('CROSSSLOT')

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
