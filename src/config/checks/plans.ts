import { operationLabel } from '../../gateway/operation.ts'
import type { Draft, Named, PlanDraft } from '../draft.ts'
import { toOperationView } from '../operation-view.ts'
import { findNearest } from '../source/did-you-mean.ts'
import type { Fault } from '../source/problem.ts'

/** A plan's own rates are for operations that exist and are limited. */
export const checkPlans = (draft: Draft): readonly Fault[] => {
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
