import type { Charge, Rule } from '../../src/stores/ports/limiter.ts'
import { newId } from '../conformance/records.ts'

/** A rule of `limit` a second, strict and hard by default. */
export const newRule = (limit: number, changes: Partial<Rule> = {}): Rule => ({
  counter: 'rate',
  algorithm: 'strict',
  limit,
  windowMs: 1000,
  burst: 1,
  mode: 'hard',
  ...changes,
})

/** A charge by one rule, with counters of its own. */
export const newCharge = (limit: number, changes: Partial<Rule> = {}): Charge => chargeBy(newRule(limit, changes))

export const chargeBy = (...rules: readonly Rule[]): Charge => ({ key: newId(), rules, whenStoreFails: 'local' })
