import type { KeyRecord } from '../../stores/ports/keys.ts'
import { digestAlg } from './generate-key.ts'
import { activeAtMs, type KeyPolicy, stateOf } from './rotation-schedule.ts'

/** A change in the state of a signing key, for the operator. */
export interface KeyChange {
  readonly kid: string
  readonly alg: string
  /** `published`: it is in the key set, and signs from `activeAtMs` on. */
  readonly became: 'published' | 'signing' | 'retiring' | 'gone'
  readonly activeAtMs: number
}

/** The result of one reading of the store, and its time. */
export interface KeyReading {
  readonly keys: readonly KeyRecord[]
  readonly atMs: number
}

/**
 * The changes from one reading to the next. Every process finds the same changes; the first reading of a process
 * finds only the keys that it generated itself, and not those that were there already.
 */
export const findKeyChanges = (
  before: KeyReading | undefined,
  after: KeyReading,
  policy: KeyPolicy,
): readonly KeyChange[] => {
  const known = before ?? { keys: after.keys.filter(key => key.createdAtMs !== after.atMs), atMs: after.atMs }
  const gone = known.keys.filter(key => !after.keys.some(({ kid }) => kid === key.kid))
  const changes = after.keys.flatMap(key => changesOf(key, known, after, policy))
  return [...changes, ...gone.map(key => toChange(key, 'gone'))].filter(({ alg }) => alg !== digestAlg)
}

const changesOf = (key: KeyRecord, before: KeyReading, after: KeyReading, policy: KeyPolicy): readonly KeyChange[] => {
  const isNew = !before.keys.some(({ kid }) => kid === key.kid)
  const earlier = isNew ? 'next' : stateOf(key, before.keys, policy, before.atMs)
  const state = stateOf(key, after.keys, policy, after.atMs)
  const moved = state === earlier || state === 'next' ? [] : [toChange(key, state)]
  return isNew ? [toChange(key, 'published'), ...moved] : moved
}

const toChange = (key: KeyRecord, became: KeyChange['became']): KeyChange => ({
  kid: key.kid,
  alg: key.alg,
  became,
  activeAtMs: activeAtMs(key),
})
