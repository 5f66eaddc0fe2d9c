import type { Draft, UpstreamDraft } from '../draft.ts'
import type { Fault } from '../source/problem.ts'
import { applyRules, type Rule, valueAt } from './rule.ts'

/** What must hold inside each upstream. */
export const checkUpstreams = ({ upstreams }: Draft): readonly Fault[] =>
  upstreams.flatMap(upstream => applyRules(rules, upstream, upstream.value))

const rules: readonly Rule<UpstreamDraft>[] = [
  {
    reads: ['ejection.time', 'ejection.maxTime'],
    check: ({ ejection }) =>
      ejection.time > ejection.maxTime
        ? valueAt(['ejection', 'time'], 'is longer than the longest time; see ejection.maxTime')
        : undefined,
  },
]
