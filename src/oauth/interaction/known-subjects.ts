import type { SubjectStore } from '../../stores/ports/subjects.ts'
import type { Digest } from '../opaque-token.ts'
import { type Lifetimes, maxLifetimeSec } from '../tokens/not-before.ts'

/**
 * Stores a `sub` that the operator's own login named. A client with that id would get tokens with the subject of that
 * user (RFC 9700 section 4.15). The record lasts as long as every token and grant of the sign-in, and a year at
 * least. Each sign-in renews it.
 */
export const rememberSubject = (
  subjects: SubjectStore,
  sub: string,
  digest: Digest,
  nowMs: number,
  lifetimes: Lifetimes,
): Promise<void> => subjects.remember(digestOf(sub, digest), nowMs + maxLifetimeSec(lifetimes) * 1000)

/** Whether the operator's own login has named this subject. */
export const isKnownSubject = (subjects: SubjectStore, sub: string, digest: Digest): Promise<boolean> =>
  subjects.has(digestOf(sub, digest))

const digestOf = (sub: string, digest: Digest): string => digest(`handoff sub\0${sub}`)
