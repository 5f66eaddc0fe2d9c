import { addressKey } from '../http/address.ts'
import type { ClientRegistration } from '../oauth/options.ts'
import type { Plan } from '../plans/plan.ts'
import { rulesOf } from '../plans/plan-rules.ts'
import type { Charge, Limiter, Rule, Verdict } from '../stores/ports/limiter.ts'
import { refuseAsApiConnect } from './api-connect-refusal.ts'
import type { Caller, Exchange, Outcome, Step } from './exchange.ts'
import { createLimitFields, type LimitFieldForm, type LimitFields, toWaitSec } from './limit-fields.ts'
import type { MeteredOperation } from './meter.ts'
import { refuse } from './refusal.ts'
import { remembered, rememberedPair } from './remembered.ts'
import type { SoftLimitReport } from './soft-limit-report.ts'

export interface PlanDeps {
  readonly limiter: Limiter
  /** By name. */
  readonly plans: ReadonlyMap<string, Plan>
  /** The plan of callers that no client vouches for; they are counted by address. */
  readonly defaultPlan: Plan
  readonly limitFields: LimitFieldForm
  readonly softLimits: SoftLimitReport
}

/** Step 3: may they, now. One decision, at most one store round trip, before anything dear is done: 429, 503. */
export const chargePlan = (deps: PlanDeps): Step => {
  const tariffs = new Map<Plan, Map<MeteredOperation, Tariff>>()
  const ruleSets = new Map<string, readonly Rule[]>()
  return exchange => {
    const { operation, caller } = exchange
    if (operation === undefined || caller === undefined || operation.plan === 'none') return undefined
    const plan = planOf(deps, operation, caller)
    const tariff = rememberedPair(tariffs, plan, operation, () => makeTariff(deps, ruleSets, plan, operation))
    const verdict = deps.limiter.charge(chargeFor(tariff, exchange, caller))
    if (verdict instanceof Promise) return verdict.then(decided => applyVerdict(deps, exchange, tariff, decided))
    return applyVerdict(deps, exchange, tariff, verdict)
  }
}

/** What one operation costs under one plan, and how its answers say what is left. */
interface Tariff {
  readonly plan: Plan
  readonly operation: MeteredOperation
  readonly rules: readonly Rule[]
  /** Of proven clients, each made once: a limiter looks texts up sooner that it has seen before. */
  readonly charges: WeakMap<ClientRegistration, Charge>
  readonly fieldsOf: LimitFields
}

const makeTariff = (
  { limitFields }: PlanDeps,
  ruleSets: Map<string, readonly Rule[]>,
  plan: Plan,
  operation: MeteredOperation,
): Tariff => {
  const planRules = rulesOf(plan, operation)
  const rules = planRules.map(({ rule }) => rule)
  return {
    plan,
    operation,
    // Operations with the same rules share an array, so that a limiter sees that what it knows of one holds for the other.
    rules: remembered(ruleSets, JSON.stringify(rules), () => rules),
    charges: new WeakMap(),
    fieldsOf: createLimitFields(limitFields, plan.name, planRules),
  }
}

/** Proven clients count by client; callers who only name one, by client and address; everybody else by address. */
const chargeFor = (tariff: Tariff, exchange: Exchange, caller: Caller): Charge => {
  if (caller.kind === 'unknown') {
    return makeCharge(tariff, `address:${addressKey(exchange.context.address)} ${caller.named?.client_id ?? ''}`)
  }
  const known = tariff.charges.get(caller.client)
  if (known) return known
  const made = makeCharge(tariff, `client:${caller.client.client_id}`)
  tariff.charges.set(caller.client, made)
  return made
}

const makeCharge = ({ plan, rules }: Tariff, caller: string): Charge => ({
  key: `${plan.name}|${caller}`,
  rules,
  whenStoreFails: plan.whenStoreFails,
})

const planOf = (deps: PlanDeps, operation: MeteredOperation, caller: Caller): Plan => {
  if (typeof operation.plan === 'object') return deps.plans.get(operation.plan.name) ?? deps.defaultPlan
  const client = caller.kind === 'unknown' ? caller.named : caller.client
  return (client && deps.plans.get(client.plan)) ?? deps.defaultPlan
}

const applyVerdict = (deps: PlanDeps, exchange: Exchange, tariff: Tariff, verdict: Verdict): Outcome => {
  tariff.operation.meter.planDecision(tariff.plan.name, decisionOf(verdict))
  const fields = tariff.fieldsOf(verdict)
  exchange.answerFields = exchange.answerFields.length === 0 ? fields : [...exchange.answerFields, ...fields]
  if (verdict.shadowDenied) deps.softLimits.exceeded(exchange, tariff.plan.name, exceededMs(tariff, verdict))
  if (verdict.allowed) return undefined
  const headers = ['retry-after', String(toWaitSec(verdict.waitMs))]
  if (verdict.source === 'closed') return refuse(exchange, 'PLAN_UNDECIDED', { headers })
  if (deps.limitFields === 'api-connect') return refuseAsApiConnect(exchange, headers)
  return refuse(exchange, 'PLAN_EXCEEDED', { headers })
}

const decisionOf = (verdict: Verdict): string => {
  if (verdict.source !== 'store') return verdict.source
  if (verdict.shadowDenied) return 'shadow_denied'
  return verdict.allowed ? 'allowed' : 'denied'
}

/** The longest window, in milliseconds, of the limits that have no room. */
const exceededMs = (tariff: Tariff, { rules }: Verdict): number =>
  Math.max(0, ...tariff.rules.filter((_, nth) => rules[nth]?.remaining === 0).map(({ windowMs }) => windowMs))
