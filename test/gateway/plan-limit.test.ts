import t from 'tap'
import { type Caller, createExchange, type Exchange } from '../../src/gateway/exchange.ts'
import type { OperationPlan } from '../../src/gateway/operation.ts'
import { type MeteredOperation, operationMetricsOf } from '../../src/gateway/operation-metrics.ts'
import { chargePlan } from '../../src/gateway/plan-limit.ts'
import type { SoftLimitReport } from '../../src/gateway/soft-limit-report.ts'
import type { ClientRegistration } from '../../src/oauth/clients/metadata.ts'
import type { Plan } from '../../src/plans/plan.ts'
import {
  type BatchedCharge,
  createLimiterService,
  createSharedLimiter,
} from '../../src/stores/limits/batching/shared-limiter.ts'
import { createMemoryLimiter } from '../../src/stores/memory/limiter.ts'
import type { Limiter } from '../../src/stores/ports/limiter.ts'
import { createRecorder } from '../../src/telemetry/recorder.ts'
import { createRequestContext } from '../http/support/request-context.ts'
import { client as registration } from '../oauth/support/authorization-server.ts'
import { newPlan } from '../support/plans.ts'

const recorder = createRecorder()

const operation = (grouping: string, path: string, plan: OperationPlan = 'client'): MeteredOperation =>
  operationMetricsOf(
    {
      grouping,
      version: '1.0.0',
      method: 'GET',
      path,
      aliases: [],
      credentials: 'bearer',
      scopes: [],
      plan,
      target: {
        kind: 'forward',
        upstream: 'up',
        forwardedHeader: 'x-forwarded',
        identity: 'headers',
        stripPrefix: '',
        dropHeaders: [],
        forwardAuthorization: false,
        maxBodyBytes: 0,
        resource: '',
      },
    },
    recorder,
    () => ({ status: 400, headers: {}, body: '' }),
  )

const one = operation('A', '/one')
const two = operation('A', '/two')
const three = operation('B', '/three')

const client = (client_id: string, plan = 'p'): ClientRegistration => registration(client_id, { plan })

const proven = (client_id: string, plan?: string): Caller => ({
  kind: 'client',
  client: client(client_id, plan),
  pendingReplayChecks: [],
})

const nobody: Caller = { kind: 'unknown', named: undefined }

/**
 * Charges requests to these plans, the first of which is the default. Returns what is left, or the status of a refusal.
 */
const createCharge = (
  plans: readonly Plan[],
  limiter: Limiter = createMemoryLimiter(),
  exceeded: SoftLimitReport['exceeded'] = () => undefined,
) => {
  const byName = new Map(plans.map(each => [each.name, each]))
  const step = chargePlan({
    limiter,
    plans: byName,
    defaultPlan: plans[0] ?? newPlan(),
    limitFields: 'ietf',
    softLimits: { exceeded },
    audit: { write: () => undefined },
  })
  return async (called: MeteredOperation, caller: Caller, address = '192.0.2.1'): Promise<string | number> => {
    const exchange = exchangeOf(called, caller, address)
    const outcome = await step(exchange)
    if (typeof outcome === 'object') return outcome.status
    return exchange.answerFields[3] ?? 'not charged'
  }
}

const exchangeOf = (called: MeteredOperation, caller: Caller, address: string): Exchange => {
  const exchange = createExchange({ ...createRequestContext(), address }, undefined)
  exchange.operation = called
  exchange.caller = caller
  return exchange
}

t.test('one counter covers a grouping, an operation or all, as the plan says', async t => {
  const cases = [
    ['grouping', [1, 0, 429, 1]],
    ['operation', [1, 1, 0, 1]],
    ['plan', [1, 0, 429, 429]],
  ] as const
  for (const [per, expected] of cases) {
    const charge = createCharge([newPlan({ per })])
    const seen = []
    for (const called of [one, two, one, three]) seen.push(await charge(called, proven('app')))

    t.same(
      seen,
      expected.map(left => (left === 429 ? 429 : `"p";r=${left};t=60`)),
      per,
    )
  }
})

t.test("an operation's own rate replaces the plan's, and eats nothing of it", async t => {
  const charge = createCharge([newPlan({ operations: { 'GET /two': { limit: 1, windowSec: 3600 } } })])

  t.equal(await charge(two, proven('app')), '"p";r=0;t=3600')
  t.equal(await charge(two, proven('app')), 429)
  t.equal(await charge(one, proven('app')), '"p";r=1;t=60')
})

t.test('every client has its own count, by its own plan', async t => {
  const charge = createCharge([newPlan(), newPlan({ name: 'large', rate: { limit: 50, windowSec: 1 } })])

  for (const left of [1, 0]) t.equal(await charge(one, proven('app')), `"p";r=${left};t=60`)
  t.equal(await charge(one, proven('app')), 429)
  t.equal(await charge(one, proven('other')), '"p";r=1;t=60')
  t.equal(await charge(one, proven('big', 'large')), '"large";r=49;t=1')
})

t.test('callers without credentials are counted by address, a whole /64 together', async t => {
  const charge = createCharge([newPlan()])

  t.equal(await charge(one, nobody, '2001:db8::1'), '"p";r=1;t=60')
  t.equal(await charge(one, nobody, '2001:db8::2'), '"p";r=0;t=60')
  t.equal(await charge(one, nobody, '2001:db8::3'), 429)
  t.equal(await charge(one, nobody, '192.0.2.1'), '"p";r=1;t=60')
})

t.test('an operation without authentication has the plan that it names', async t => {
  const charge = createCharge([newPlan(), newPlan({ name: 'open', rate: { limit: 9, windowSec: 1 } })])
  const open = operation('A', '/open', { name: 'open' })

  t.equal(await charge(open, nobody), '"open";r=8;t=1')
  t.equal(await charge(open, nobody, '192.0.2.2'), '"open";r=8;t=1', 'another address')
  t.equal(await charge(one, nobody), '"p";r=1;t=60', 'of the default plan nothing is spent')
})

t.test('to name a client spends nothing of that client', async t => {
  const charge = createCharge([newPlan()])
  const named: Caller = { kind: 'unknown', named: client('app') }

  for (const left of [1, 0]) t.equal(await charge(one, named), `"p";r=${left};t=60`)
  t.equal(await charge(one, named), 429)
  t.equal(await charge(one, proven('app')), '"p";r=1;t=60')
  t.equal(await charge(one, named, '192.0.2.2'), '"p";r=1;t=60')
})

t.test('an operation without a plan is not charged', async t => {
  const charge = createCharge([newPlan()])

  t.equal(await charge(operation('A', '/free', 'none'), proven('app')), 'not charged')
})

t.test('without the count a plan is decided locally, left open or closed, as it says', async t => {
  const gone = createSharedLimiter(() => Promise.reject(new Error('the counting process is gone')), {
    share: () => ({ index: 0, of: 2 }),
    onStateChange: () => undefined,
  })

  t.equal(await createCharge([newPlan()], gone)(one, proven('app')), '"p";r=0;t=60', 'one of two shares of 2')
  t.equal(await createCharge([newPlan()], gone)(one, proven('app')), 429)
  t.equal(await createCharge([newPlan({ whenStoreFails: 'open' })], gone)(one, proven('app')), '"p";r=2;t=60')
  t.equal(await createCharge([newPlan({ whenStoreFails: 'closed' })], gone)(one, proven('app')), 503)
})

t.test('a soft limit is exceeded if the whole limit is, not a share of it', async t => {
  const soft = newPlan({ mode: 'soft' })
  const exceeded: string[] = []
  const report = (_exchange: Exchange, plan: string) => void exceeded.push(plan)
  const away = createSharedLimiter(() => Promise.reject(new Error('the counting process is gone')), {
    share: () => ({ index: 0, of: 2 }),
    onStateChange: () => undefined,
  })

  for (let nth = 0; nth < 3; nth++) await createCharge([soft], away, report)(one, proven('app'))
  t.same(exceeded, [])
  const charge = createCharge([soft], createMemoryLimiter(), report)
  for (let nth = 0; nth < 3; nth++) await charge(one, proven('app'))
  t.same(exceeded, ['p'], 'the third of two')
})

t.test('operations that share a count are asked about together', async t => {
  const count = createLimiterService()
  const asked: BatchedCharge[] = []
  const limiter = createSharedLimiter(
    async charges => {
      asked.push(...charges)
      return count(charges)
    },
    { share: () => ({ index: 0, of: 1 }), onStateChange: () => undefined },
  )
  const charge = createCharge([newPlan()], limiter)

  await Promise.all([charge(one, proven('app')), charge(two, proven('app')), charge(three, proven('app'))])

  t.match(asked, [{ count: 2 }, { count: 1 }], 'one and two are of a grouping, three is not')
})
