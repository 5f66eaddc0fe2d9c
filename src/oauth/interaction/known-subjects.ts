import type { SubjectStore } from '../../stores/ports/subjects.ts'
import type { Digest } from '../opaque-token.ts'
import { type Lifetimes, longestLifetimeSec } from '../tokens/not-before.ts'

/**
 * Remembers a `sub` that the operator's own login names. A client that took it as its id would get tokens of that person's
 * subject (RFC 9700 section 4.15). The record lasts as long as anything that the sign-in leads to, and a year at least; each
 * sign-in renews it.
 */
export const rememberSubject = (
  subjects: SubjectStore,
  sub: string,
  digest: Digest,
  nowMs: number,
  lifetimes: Lifetimes,
): Promise<void> => subjects.remember(digestOf(sub, digest), nowMs + longestLifetimeSec(lifetimes) * 1000)

/** Whether the operator's own login has named this subject. */
export const isKnownSubject = (subjects: SubjectStore, sub: string, digest: Digest): Promise<boolean> =>
  subjects.has(digestOf(sub, digest))

const digestOf = (sub: string, digest: Digest): string => digest(`handoff sub\0${sub}`)
