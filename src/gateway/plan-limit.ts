import { addressKey } from '../http/peer/client-ip.ts'
import { type ClientRegistration, isConfidential } from '../oauth/clients/metadata.ts'
import type { Plan } from '../plans/plan.ts'
import { rulesOf } from '../plans/plan-rules.ts'
import type { Charge, Limiter, Rule, Verdict } from '../stores/ports/limiter.ts'
import type { Audit } from '../telemetry/audit.ts'
import { auditRefused } from './audit-events.ts'
import { refuse, refuseAsApiConnect } from './error-response.ts'
import type { Caller, Exchange, Outcome, Step } from './exchange.ts'
import { getOrCreate } from './get-or-create.ts'
import type { MeteredOperation } from './operation-metrics.ts'
import { createLimitFields, type LimitFieldForm, type LimitFields, toWaitSec } from './ratelimit-headers.ts'
import type { SoftLimitReport } from './soft-limit-report.ts'

export interface PlanDeps {
  readonly limiter: Limiter
  /** By name. */
  readonly plans: ReadonlyMap<string, Plan>
  /** The plan of callers without a client, which are counted by address. */
  readonly defaultPlan: Plan
  readonly limitFields: LimitFieldForm
  readonly softLimits: SoftLimitReport
  readonly audit: Audit
}

/**
 * Charges the plan of the caller and refuses requests above it. One decision and at most one store round trip, before
 * anything expensive is done: 429, 503.
 */
export const chargePlan = (deps: PlanDeps): Step => {
  const chargeRules = new Map<MeteredOperation, ChargeRules>()
  const sharedRules = new Map<string, readonly Rule[]>()
  const chargeRulesOf = (operation: MeteredOperation): ChargeRules => {
    const known = chargeRules.get(operation)
    if (known) return known
    const made = createChargeRules(deps, operation, sharedRules)
    chargeRules.set(operation, made)
    return made
  }
  const publicClients = createPublicClients(deps)
  return exchange => {
    const { operation, caller } = exchange
    if (operation === undefined || caller === undefined || operation.plan === 'none') return undefined
    const { ruleSet, charge } = chargeRulesOf(operation)(exchange, caller)
    if (isPublicClient(caller)) {
      const refused = publicClients.admit(exchange, caller.client, ruleSet)
      if (refused !== undefined) return refused
    }
    const verdict = deps.limiter.charge(charge)
    if (verdict instanceof Promise) return verdict.then(decided => applyVerdict(deps, exchange, ruleSet, decided))
    return applyVerdict(deps, exchange, ruleSet, verdict)
  }
}

/** Returns the charge of a request of one operation, and the rules behind it. */
type ChargeRules = (exchange: Exchange, caller: Caller) => PlanCharge

interface PlanCharge {
  readonly ruleSet: RuleSet
  readonly charge: Charge
}

/** The rules of one plan for one operation, and how its responses tell what is left. */
interface RuleSet {
  readonly plan: Plan
  readonly operation: MeteredOperation
  readonly rules: readonly Rule[]
  readonly fieldsOf: LimitFields
}

/**
 * Authenticated clients are counted by client, callers that only name a client by client and address, and all others by
 * address.
 */
const createChargeRules = (
  deps: PlanDeps,
  operation: MeteredOperation,
  sharedRules: Map<string, readonly Rule[]>,
): ChargeRules => {
  const ruleSets = new Map<Plan, RuleSet>()
  // Of authenticated clients, each created once: a limiter looks up a string faster that it has seen before.
  const charges = new WeakMap<ClientRegistration, PlanCharge>()
  const ruleSetOf = (client: ClientRegistration | undefined): RuleSet => {
    const plan = planOf(deps, operation, client)
    return getOrCreate(ruleSets, plan, () => createRuleSet(deps, sharedRules, plan, operation))
  }
  return (exchange, caller) => {
    if (caller.kind === 'unknown' || isPublicClient(caller)) {
      const named = caller.kind === 'unknown' ? caller.named : caller.client
      const ruleSet = ruleSetOf(named)
      const charge = makeCharge(ruleSet, `address:${addressKey(exchange.context.address)} ${named?.client_id ?? ''}`)
      return { ruleSet, charge: { ...charge, byAddress: true } }
    }
    const { client } = caller
    const known = charges.get(client)
    if (known) return known
    const ruleSet = ruleSetOf(client)
    const made = { ruleSet, charge: makeCharge(ruleSet, `client:${client.client_id}`) }
    charges.set(client, made)
    return made
  }
}

/**
 * A public client has sent only its id, which any client can do. A code or a refresh token proves its identity later,
 * or nothing does.
 */
const isPublicClient = (caller: Caller): caller is Caller & { readonly kind: 'client' } =>
  caller.kind === 'client' && !isConfidential(caller.client)

const createRuleSet = (
  { limitFields }: PlanDeps,
  sharedRules: Map<string, readonly Rule[]>,
  plan: Plan,
  operation: MeteredOperation,
): RuleSet => {
  const planRules = rulesOf(plan, operation)
  const rules = planRules.map(({ rule }) => rule)
  return {
    plan,
    operation,
    // Operations with the same rules share an array, so that the limiter recognises that a decision for one holds for
    // the other.
    rules: getOrCreate(sharedRules, JSON.stringify(rules), () => rules),
    fieldsOf: createLimitFields(limitFields, plan.name, planRules),
  }
}

/** Charges public clients once their identity is proven, and refuses the ones whose plan is used up. */
interface PublicClients {
  /**
   * Answers a request of a client whose plan is used up. Otherwise the client is charged once its identity is proven.
   */
  admit(exchange: Exchange, client: ClientRegistration, ruleSet: RuleSet): Outcome
}

/**
 * A code or refresh token proves a public client's identity, and by then the response exists. So the charge does not
 * refuse that response. It refuses later requests, in this process, until the plan has room. Other clients cannot use
 * up that plan, because only requests that were answered with a token are charged to it.
 */
const createPublicClients = (deps: PlanDeps): PublicClients => {
  const blocked = new WeakMap<RuleSet, WeakMap<ClientRegistration, number>>()
  const blockedUntilMs = (client: ClientRegistration, ruleSet: RuleSet): number =>
    blocked.get(ruleSet)?.get(client) ?? 0
  const block = (client: ClientRegistration, ruleSet: RuleSet, waitMs: number): void => {
    const untilByClient = blocked.get(ruleSet) ?? new WeakMap<ClientRegistration, number>()
    blocked.set(ruleSet, untilByClient.set(client, performance.now() + waitMs))
  }

  const charge = async (client: ClientRegistration, ruleSet: RuleSet): Promise<void> => {
    const verdict = await deps.limiter.charge(makeCharge(ruleSet, `client:${client.client_id}`))
    ruleSet.operation.meter.planDecision(ruleSet.plan.name, decisionOf(verdict))
    if (verdict.waitMs > 0) block(client, ruleSet, verdict.waitMs)
  }
  return {
    admit(exchange, client, ruleSet) {
      const waitMs = blockedUntilMs(client, ruleSet) - performance.now()
      if (waitMs > 0) {
        ruleSet.operation.meter.planDecision(ruleSet.plan.name, 'denied')
        return refuseExceeded(deps, exchange, waitMs)
      }
      exchange.chargeProven = () => void charge(client, ruleSet)
      return undefined
    },
  }
}

const makeCharge = ({ plan, rules }: RuleSet, caller: string): Charge => ({
  key: `${plan.name}|${caller}`,
  rules,
  whenStoreFails: plan.whenStoreFails,
})

const planOf = (deps: PlanDeps, operation: MeteredOperation, client: ClientRegistration | undefined): Plan => {
  if (typeof operation.plan === 'object') return deps.plans.get(operation.plan.name) ?? deps.defaultPlan
  return (client && deps.plans.get(client.plan)) ?? deps.defaultPlan
}

const applyVerdict = (deps: PlanDeps, exchange: Exchange, ruleSet: RuleSet, verdict: Verdict): Outcome => {
  ruleSet.operation.meter.planDecision(ruleSet.plan.name, decisionOf(verdict))
  const fields = ruleSet.fieldsOf(verdict)
  exchange.answerFields = exchange.answerFields.length === 0 ? fields : [...exchange.answerFields, ...fields]
  // A worker's share alone does not tell whether the whole limit is exceeded.
  if (verdict.shadowDenied && verdict.source === 'store')
    deps.softLimits.exceeded(exchange, ruleSet.plan.name, exceededMs(ruleSet, verdict))
  if (verdict.allowed) return undefined
  if (verdict.source !== 'closed') return refuseExceeded(deps, exchange, verdict.waitMs)
  auditRefused(deps.audit, exchange, 'temporarily_unavailable')
  return refuse(exchange, 'RATE_LIMITER_UNAVAILABLE', { headers: retryAfter(verdict.waitMs) })
}

const refuseExceeded = (deps: PlanDeps, exchange: Exchange, waitMs: number): Outcome => {
  auditRefused(deps.audit, exchange, 'rate_limit_exceeded')
  const headers = retryAfter(waitMs)
  if (deps.limitFields === 'api-connect') return refuseAsApiConnect(exchange, headers)
  return refuse(exchange, 'PLAN_EXCEEDED', { headers })
}

const retryAfter = (waitMs: number): readonly string[] => ['retry-after', String(toWaitSec(waitMs))]

const decisionOf = (verdict: Verdict): string => {
  if (verdict.source !== 'store') return verdict.source
  if (verdict.shadowDenied) return 'shadow_denied'
  return verdict.allowed ? 'allowed' : 'denied'
}

/** The longest window, in milliseconds, of the limits that are used up. */
const exceededMs = (ruleSet: RuleSet, { rules }: Verdict): number =>
  Math.max(0, ...ruleSet.rules.filter((_, nth) => rules[nth]?.remaining === 0).map(({ windowMs }) => windowMs))
