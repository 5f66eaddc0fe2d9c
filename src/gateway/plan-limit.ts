import { addressKey } from '../http/address.ts'
import type { Plan } from '../plans/plan.ts'
import { rulesOf } from '../plans/plan-rules.ts'
import type { Limiter, Rule, Verdict } from '../stores/ports/limiter.ts'
import { refuseAsApiConnect } from './api-connect-refusal.ts'
import type { Caller, Exchange, Outcome, Step } from './exchange.ts'
import { createLimitFields, type LimitFieldForm, type LimitFields, toWaitSec } from './limit-fields.ts'
import type { MeteredOperation } from './meter.ts'
import { refuse } from './refusal.ts'
import { rememberedPair } from './remembered.ts'
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
  return exchange => {
    const { operation, caller } = exchange
    if (operation === undefined || caller === undefined || operation.plan === 'none') return undefined
    const plan = planOf(deps, caller)
    const tariff = rememberedPair(tariffs, plan, operation, () => makeTariff(deps, plan, operation))
    const verdict = deps.limiter.charge({
      key: tariff.keyPrefix + callerKey(exchange, caller),
      rules: tariff.rules,
      whenStoreFails: plan.whenStoreFails,
    })
    if (verdict instanceof Promise) return verdict.then(decided => applyVerdict(deps, exchange, tariff, decided))
    return applyVerdict(deps, exchange, tariff, verdict)
  }
}

/** What one operation costs under one plan, and how its answers say what is left. */
interface Tariff {
  readonly plan: string
  readonly operation: MeteredOperation
  readonly rules: readonly Rule[]
  readonly keyPrefix: string
  readonly fieldsOf: LimitFields
}

const makeTariff = ({ limitFields }: PlanDeps, plan: Plan, operation: MeteredOperation): Tariff => {
  const rules = rulesOf(plan, operation)
  return {
    plan: plan.name,
    operation,
    rules: rules.map(({ rule }) => rule),
    keyPrefix: `${plan.name}|`,
    fieldsOf: createLimitFields(limitFields, plan.name, rules),
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

const applyVerdict = (deps: PlanDeps, exchange: Exchange, tariff: Tariff, verdict: Verdict): Outcome => {
  tariff.operation.meter.planDecision(tariff.plan, decisionOf(verdict))
  const fields = tariff.fieldsOf(verdict)
  exchange.answerFields = exchange.answerFields.length === 0 ? fields : [...exchange.answerFields, ...fields]
  if (verdict.shadowDenied) deps.softLimits.exceeded(exchange, tariff.plan, exceededMs(tariff, verdict))
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
