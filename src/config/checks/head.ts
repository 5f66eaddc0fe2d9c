import type { Draft, HeadDraft } from '../draft.ts'
import type { Fault } from '../source/problem.ts'
import { applyRules, type Rule, valueAt } from './rule.ts'

/** What must hold between store, workers and keys. */
export const checkHead = ({ head }: Draft): readonly Fault[] => applyRules(rules, head, head.value)

const rules: readonly Rule<HeadDraft>[] = [
  {
    reads: ['store', 'workers'],
    check: ({ store, workers }) =>
      store.kind === 'memory' && typeof workers === 'number' && workers > 1
        ? valueAt('workers', 'memory: is not shared between workers; set workers: 1, or store: sqlite:path')
        : undefined,
  },
]
