import { ownMember } from '../own-member.ts'
import type { Rule } from '../stores/ports/limiter.ts'
import type { Plan, Rate } from './plan.ts'

/** One limit of a plan as it applies to one operation. */
export interface PlanRule {
  /** The kind of the plan's limit. */
  readonly kind: 'rate' | 'quota' | 'burst'
  readonly rate: Rate
  /** The rule for the store. */
  readonly rule: Rule
}

/** The operation that is charged for. */
export interface Charged {
  readonly label: string
  readonly grouping: string
}

/** Every limit that a plan puts on an operation, the rate first. */
export const rulesOf = (plan: Plan, operation: Charged): readonly PlanRule[] => {
  const own = ownMember(plan.operations, operation.label)
  const covered = coveredBy(plan, operation)
  const { quota, burstLimit } = plan
  // An operation's own rate has its own counter, and its requests do not count towards the plan's rate. The quota and
  // the burst limit still apply.
  const rules = [rateRule(plan, own ?? plan.rate, own ? operation.label : covered)]
  if (quota) rules.push(quotaRule(plan, quota, covered))
  if (burstLimit) rules.push(burstRule(burstLimit, covered))
  return rules
}

/** Identifies the requests that one counter covers. */
const coveredBy = ({ per }: Plan, { label, grouping }: Charged): string => {
  if (per === 'operation') return label
  return per === 'grouping' ? grouping : '*'
}

const rateRule = ({ algorithm, burst, mode }: Plan, rate: Rate, covered: string): PlanRule => ({
  kind: 'rate',
  rate,
  rule: {
    counter: covered,
    algorithm,
    limit: rate.limit,
    windowMs: rate.windowSec * 1000,
    burst: burst ?? defaultBurst(rate),
    mode,
  },
})

/**
 * Default number of requests that `smooth` admits at once: a tenth of the rate, but at least ten if the rate allows as
 * many.
 */
export const defaultBurst = ({ limit }: Rate): number => Math.min(limit, Math.max(10, Math.ceil(limit / 10)))

/** A quota is an amount for a period, so it is never smoothed. */
const quotaRule = ({ algorithm, mode }: Plan, rate: Rate, covered: string): PlanRule => ({
  kind: 'quota',
  rate,
  rule: {
    counter: `${covered} quota`,
    algorithm: algorithm === 'calendar' ? 'calendar' : 'strict',
    limit: rate.limit,
    windowMs: rate.windowSec * 1000,
    burst: 1,
    mode,
  },
})

/** It protects the upstream, so it is hard whatever the plan's mode. */
const burstRule = (rate: Rate, covered: string): PlanRule => ({
  kind: 'burst',
  rate,
  rule: {
    counter: `${covered} burst`,
    algorithm: 'strict',
    limit: rate.limit,
    windowMs: rate.windowSec * 1000,
    burst: 1,
    mode: 'hard',
  },
})
