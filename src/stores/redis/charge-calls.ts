import { Cluster } from 'ioredis'
import type { Decision } from '../limits/counters.ts'
import type { Rule, RuleState } from '../ports/limiter.ts'
import { chargeScriptFor, ruleArguments } from './charge-script.ts'
import type { RedisConnection } from './connection.ts'

/**
 * Asks Redis about a charge: its counters' keys, one for each rule, and how many requests. Rejects with what ioredis says.
 * Charges by the same rules that are asked about in one go are one call: a client each, they cost little more than one.
 */
export type ChargeCall = (keys: readonly string[], wanted: number) => Promise<Decision>

/** Most charges in one call. Redis does nothing else meanwhile: for about half a millisecond. */
const mostTogether = 100

/** A charge that waits for its call, or for the answer. */
interface Asked {
  readonly keys: readonly string[]
  readonly wanted: number
  readonly resolve: (decision: Decision) => void
  readonly reject: (reason: unknown) => void
}

/** Runs a script: how many keys, the keys, then the arguments. */
type RunScript = (...args: readonly (string | number)[]) => Promise<Buffer>

/** @returns makes a call for each set of rules; all of them go over the connection */
export const createChargeCalls = (connection: RedisConnection): ((rules: readonly Rule[]) => ChargeCall) => {
  // In a Cluster a script has the keys of one slot, and each charge is a slot by itself.
  let together = connection instanceof Cluster ? 1 : mostTogether
  const scripts = new Map<string, RunScript>()
  const findScript = (rules: readonly Rule[]): RunScript => {
    const { name, lua } = chargeScriptFor(rules)
    const script = scripts.get(name) ?? defineScript(connection, name, lua)
    scripts.set(name, script)
    return script
  }
  return rules => {
    const run = findScript(rules)
    const terms = ruleArguments(rules)
    let waiting: Asked[] = []

    const sendAll = (): void => {
      const all = waiting
      waiting = []
      for (let from = 0; from < all.length; from += together) send(all.slice(from, from + together))
    }
    const send = (charges: readonly Asked[]): void => {
      const keys = charges.flatMap(charge => charge.keys)
      run(keys.length, ...keys, ...terms, ...wantedOf(charges)).then(
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

/** Left out where it is one of each, as mostly with many clients: each argument is measured and copied a few times. */
const wantedOf = (charges: readonly Asked[]): readonly number[] =>
  charges.every(({ wanted }) => wanted === 1) ? [] : charges.map(({ wanted }) => wanted)

const defineScript = (connection: RedisConnection, name: string, lua: string): RunScript => {
  connection.defineCommand(name, { lua })
  // ioredis adds the command as a method of this name, and one that answers with a Buffer; its types cannot know.
  const methods = connection as unknown as Readonly<Record<string, RunScript>>
  const method = `${name}Buffer`
  return (...args) => methods[method]?.(...args) ?? Promise.reject(new TypeError(`ioredis has no ${name}`))
}

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
