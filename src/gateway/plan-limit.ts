import { addressKey } from '../http/address.ts'
import type { Plan, Rate } from '../plans/plan.ts'
import type { Limiter, Verdict } from '../stores/ports.ts'
import type { Caller, Exchange, Outcome, Step } from './exchange.ts'
import type { MeteredOperation } from './meter.ts'
import { refuse } from './refusal.ts'
import { rememberedPair } from './remembered.ts'

export interface PlanDeps {
  readonly limiter: Limiter
  /** By name. */
  readonly plans: ReadonlyMap<string, Plan>
  /** The plan of callers that no client vouches for; they are counted by address. */
  readonly defaultPlan: Plan
}

/** Step 3: may they, now. One decision, at most one store round trip, before anything dear is done: 429, 503. */
export const chargePlan = (deps: PlanDeps): Step => {
  const tariffs = new Map<Plan, Map<MeteredOperation, Tariff>>()
  return exchange => {
    const { operation, caller } = exchange
    if (operation === undefined || caller === undefined || operation.plan === 'none') return undefined
    const plan = planOf(deps, caller)
    const tariff = rememberedPair(tariffs, plan, operation, () => makeTariff(plan, operation))
    const verdict = deps.limiter.charge({
      key: tariff.keyPrefix + callerKey(exchange, caller),
      limit: tariff.rate.limit,
      windowMs: tariff.windowMs,
      whenStoreFails: plan.whenStoreFails,
    })
    if (verdict instanceof Promise) return verdict.then(decided => applyVerdict(exchange, operation, tariff, decided))
    return applyVerdict(exchange, operation, tariff, verdict)
  }
}

/** What one operation costs under one plan: its counter, and the texts that do not change. */
interface Tariff {
  readonly plan: string
  readonly rate: Rate
  readonly windowMs: number
  readonly keyPrefix: string
  readonly policyField: string
  readonly limitFieldStart: string
}

const makeTariff = (plan: Plan, operation: MeteredOperation): Tariff => {
  const own = plan.operations[operation.label]
  const rate = own ?? plan.rate
  // An operation's own rate has its own counter; it does not eat the plan's.
  const covers = own || plan.per === 'operation' ? operation.label : plan.per === 'grouping' ? operation.grouping : '*'
  return {
    plan: plan.name,
    rate,
    windowMs: rate.windowSec * 1000,
    keyPrefix: `${plan.name}|${covers}|`,
    policyField: `"${plan.name}";q=${rate.limit};w=${rate.windowSec}`,
    limitFieldStart: `"${plan.name}";r=`,
  }
}

const planOf = (deps: PlanDeps, caller: Caller): Plan => {
  const client = caller.kind === 'unknown' ? caller.named : caller.client
  return (client && deps.plans.get(client.plan)) ?? deps.defaultPlan
}

/** Proven clients count by client; callers who only name one, by client and address; everybody else by address. */
const callerKey = (exchange: Exchange, caller: Caller): string => {
  if (caller.kind !== 'unknown') return `client:${caller.client.client_id}`
  return `address:${addressKey(exchange.context.address)} ${caller.named?.client_id ?? ''}`
}

const applyVerdict = (exchange: Exchange, operation: MeteredOperation, tariff: Tariff, verdict: Verdict): Outcome => {
  operation.meter.planDecision(tariff.plan, decisionOf(verdict))
  const waitSec = Math.max(1, Math.ceil(verdict.waitMs / 1000))
  exchange.answerFields = [
    ...exchange.answerFields,
    'ratelimit-policy',
    tariff.policyField,
    'ratelimit',
    `${tariff.limitFieldStart}${verdict.remaining};t=${waitSec}`,
  ]
  if (verdict.allowed) return undefined
  const code = verdict.source === 'closed' ? 'PLAN_UNDECIDED' : 'PLAN_EXCEEDED'
  return refuse(exchange, code, { headers: ['retry-after', String(waitSec)] })
}

const decisionOf = (verdict: Verdict): string => {
  if (verdict.source !== 'store') return verdict.source
  return verdict.allowed ? 'allowed' : 'denied'
}
