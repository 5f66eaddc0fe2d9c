import { operationLabel } from '../../gateway/operation.ts'
import type { Draft, Named, PlanDraft } from '../draft.ts'
import { toOperationView } from '../operation-view.ts'
import { findNearest } from '../source/did-you-mean.ts'
import type { Fault } from '../source/problem.ts'

/** A plan's limits go together, and its own rates are for operations that exist and are limited. */
export const checkPlans = (draft: Draft): readonly Fault[] => [
  ...draft.plans.flatMap(checkLimits),
  ...checkOperations(draft),
]

const checkLimits = ({ path, value }: Named<PlanDraft>): readonly Fault[] => {
  const { algorithm, burst, quota, rate } = value
  const faults: Fault[] = []
  if (typeof burst === 'number' && algorithm !== 'smooth')
    faults.push({ path: [...path, 'burst'], at: 'value', message: burstNumberFault(algorithm) })
  if (typeof burst === 'object' && burst.windowSec >= rate.windowSec)
    faults.push({ path: [...path, 'burst'], at: 'value', message: 'a burst limit is for a shorter time than the rate' })
  if (quota && quota.windowSec <= rate.windowSec)
    faults.push({ path: [...path, 'quota'], at: 'value', message: 'a quota is for a longer time than the rate' })
  return faults
}

const burstNumberFault = (algorithm: string): string =>
  `how many come at once is for algorithm: smooth, and this plan is ${algorithm}; a limit for a shorter time is written as a rate, such as 20/1second`

const checkOperations = (draft: Draft): readonly Fault[] => {
  // With an operation missing from the draft, a label that names it would look wrong.
  if (!draft.hasAllOperations) return []
  const views = draft.operations.map(toOperationView)
  const limited = views.filter(view => view.plan === 'client').map(operationLabel)
  const unlimited = views.filter(view => view.plan === 'none').map(operationLabel)
  return draft.plans.flatMap(plan => checkLabels(plan, limited, unlimited))
}

const checkLabels = (
  { path, value }: Named<PlanDraft>,
  limited: readonly string[],
  unlimited: readonly string[],
): readonly Fault[] =>
  Object.keys(value.operations)
    .filter(label => !limited.includes(label))
    .map(label => ({
      path: [...path, 'operations', label],
      at: 'key',
      message: unlimited.includes(label)
        ? 'this operation is not limited (plan: none); remove the rate, or the plan: none'
        : `no operation has this method and full path; ${suggestion(label, limited)}`,
    }))

const suggestion = (label: string, known: readonly string[]): string => {
  const nearest = findNearest(label, known)
  return nearest ? `did you mean ${nearest}?` : "write it as 'POST /v1/token', base path included"
}
