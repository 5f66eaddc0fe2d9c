import type { Draft, HeadDraft } from '../draft.ts'
import type { Fault } from '../source/problem.ts'
import { collides } from '../values/address.ts'
import { applyRules, type Rule, valueAt } from './rule.ts'

/** What must hold between listeners, store and workers. */
export const checkHead = ({ head }: Draft): readonly Fault[] => applyRules(rules, head, head.value)

const rules: readonly Rule<HeadDraft>[] = [
  {
    reads: ['listen', 'admin'],
    check: ({ listen, admin }) =>
      collides(listen, admin)
        ? valueAt('admin', 'the traffic listener has this port; nothing of admin may be on it, take another port')
        : undefined,
  },
  {
    reads: ['store', 'workers'],
    check: ({ store, workers }) =>
      store.kind === 'memory' && typeof workers === 'number' && workers > 1
        ? valueAt('workers', 'memory: is not shared between workers; set workers: 1, or store: sqlite:path')
        : undefined,
  },
]
