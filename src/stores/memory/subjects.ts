import type { Clock } from '../../clock.ts'
import type { SubjectStore } from '../ports/subjects.ts'
import { createExpiringMap } from './expiring-map.ts'

export const createSubjects = (clock: Clock): SubjectStore => {
  const subjects = createExpiringMap<true>(clock)
  return {
    remember: async (digest, untilMs) =>
      subjects.set(digest, true, Math.max(untilMs, subjects.entry(digest)?.untilMs ?? untilMs)),
    has: async digest => subjects.get(digest) === true,
  }
}
