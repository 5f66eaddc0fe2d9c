import type { Plan } from '../../src/plans/plan.ts'

/** A strict, hard plan of two a minute by default. */
export const newPlan = (changes: Partial<Plan> = {}): Plan => ({
  name: 'p',
  title: 'P',
  rate: { limit: 2, windowSec: 60 },
  algorithm: 'strict',
  burst: undefined,
  burstLimit: undefined,
  quota: undefined,
  mode: 'hard',
  per: 'grouping',
  whenStoreFails: 'local',
  operations: {},
  ...changes,
})
