import { z } from 'zod'
import { line, name, oneOf, oneOfYet, rate } from '../values/texts.ts'

export const planSchema = z.strictObject({
  title: line().optional().describe('What people call it. Default its key.'),
  price: line().optional().describe('For people only.'),
  rate: rate().describe('Requests per time for each client, such as 100/1second.'),
  per: oneOf(['operation', 'grouping', 'plan'])
    .default('grouping')
    .describe('What one counter covers. Default grouping.'),
  algorithm: oneOfYet(['strict'])
    .default('strict')
    .describe('strict: never more in any sliding window. Default strict.'),
  whenStoreFails: oneOf(['local', 'open', 'closed'])
    .default('local')
    .describe('While the store is away: count in each process, let all in, or refuse all. Default local.'),
  operations: z
    .record(z.string(), rate())
    .default({})
    .describe("An operation's own rate, by 'METHOD /path', in place of the plan's."),
})

/** The plans of a file that names none. */
export const defaultPlans = { 'default-plan': { title: 'Default Plan', price: 'Free', rate: '100/1second' } }

export const plansSchema = z
  .record(name(), planSchema)
  .prefault(defaultPlans)
  .describe('What a client bought: its rates. Default one plan, default-plan, of 100/1second.')
