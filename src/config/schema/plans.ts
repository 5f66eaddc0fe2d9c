import { z } from 'zod'
import { burst, line, name, oneOf, rate } from '../values/zod-scalars.ts'

export const planSchema = z.strictObject({
  title: line().optional().describe('Its name for display. Default its key.'),
  price: line().optional().describe('For people only.'),
  rate: rate().describe('Requests per time for each client, such as 100/1second.'),
  per: oneOf(['operation', 'grouping', 'plan'])
    .default('grouping')
    .describe('The requests that one counter covers. Default grouping.'),
  algorithm: oneOf(['strict', 'smooth', 'calendar'])
    .default('strict')
    .describe(
      'How the rate counts. strict: never more in any sliding window; smooth: evenly, with bursts; calendar: in windows that begin at the same time for all clients. Default strict.',
    ),
  burst: burst()
    .optional()
    .describe(
      'A number: how many requests smooth admits at once; default a tenth of the rate, but 10 if the rate allows as many. A rate such as 20/1second: a shorter limit in addition to the rate, always hard.',
    ),
  quota: rate().optional().describe('A second rate, for a longer time, such as 10000/1day.'),
  mode: oneOf(['hard', 'soft'])
    .default('hard')
    .describe('soft: rate and quota are counted and logged, but refuse no request. Default hard.'),
  whenStoreFails: oneOf(['local', 'open', 'closed'])
    .default('local')
    .describe(
      'While the store is unavailable: count in each process, admit all requests, or refuse all. Default local.',
    ),
  operations: z
    .record(z.string(), rate())
    .default({})
    .describe("An operation's own rate, by 'METHOD /path', in place of the plan's."),
})

/** The plans of a file without any. */
export const defaultPlans = { 'default-plan': { title: 'Default Plan', price: 'Free', rate: '100/1second' } }

export const plansSchema = z
  .record(name(), planSchema)
  .prefault(defaultPlans)
  .describe('The rates of clients, by the name of the plan. Default one plan, default-plan, with 100/1second.')
