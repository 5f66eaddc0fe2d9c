import { type OperationPlan, operationLabel } from '../../gateway/operation.ts'
import type { Named, ParsedConfig, ParsedPlan } from '../parse/parsed-config.ts'
import { toOperationView } from '../resolve/effective-operation.ts'
import type { Fault } from '../source/diagnostic.ts'
import { findNearest } from '../source/did-you-mean.ts'

/** Checks that a plan's limits fit together, and that its own rates are for operations that exist and are limited. */
export const checkPlans = (parsed: ParsedConfig): readonly Fault[] => [
  ...parsed.plans.flatMap(checkLimits),
  ...checkOperations(parsed),
]

const checkLimits = ({ path, value }: Named<ParsedPlan>): readonly Fault[] => {
  const { algorithm, burst, quota, rate } = value
  const faults: Fault[] = []
  if (typeof burst === 'number' && algorithm !== 'smooth')
    faults.push({ path: [...path, 'burst'], at: 'value', message: burstNumberFault(algorithm) })
  if (typeof burst === 'object' && burst.windowSec >= rate.windowSec)
    faults.push({
      path: [...path, 'burst'],
      at: 'value',
      message: 'a burst limit must have a shorter period than the rate',
    })
  if (quota && quota.windowSec <= rate.windowSec)
    faults.push({ path: [...path, 'quota'], at: 'value', message: 'a quota must have a longer period than the rate' })
  return faults
}

const burstNumberFault = (algorithm: string): string =>
  `a number of requests is only for algorithm: smooth, and this plan is ${algorithm}; write a limit for a shorter period as a rate, such as 20/1second`

const checkOperations = (parsed: ParsedConfig): readonly Fault[] => {
  // If an operation is missing from the parsed configuration, a label that names it would look wrong.
  if (!parsed.hasAllOperations) return []
  const chosen = new Map(parsed.operations.map(toOperationView).map(view => [operationLabel(view), view.plan]))
  return parsed.plans.flatMap(plan => checkLabels(plan, chosen))
}

/** @param chosen the plan of each operation, by its label */
const checkLabels = (
  { name, path, value }: Named<ParsedPlan>,
  chosen: ReadonlyMap<string, OperationPlan>,
): readonly Fault[] =>
  Object.keys(value.operations).flatMap(label => {
    const message = labelFault(name, label, chosen)
    return message === undefined ? [] : [{ path: [...path, 'operations', label], at: 'key', message }]
  })

const labelFault = (plan: string, label: string, chosen: ReadonlyMap<string, OperationPlan>): string | undefined => {
  const its = chosen.get(label)
  if (its === undefined) return `no operation has this method and full path; ${suggestion(label, [...chosen.keys()])}`
  if (its === 'none') return 'this operation is not limited (plan: none); remove the rate, or the plan: none'
  if (its === 'client' || its.name === plan) return undefined
  return `this operation is limited by the plan ${its.name}; put the rate there`
}

const suggestion = (label: string, known: readonly string[]): string => {
  const nearest = findNearest(label, known)
  return nearest ? `did you mean ${nearest}?` : "write it as 'POST /v1/token', base path included"
}
