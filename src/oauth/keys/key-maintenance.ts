import type { KeyRecord, KeyStore } from '../../stores/ports/keys.ts'
import { digestAlg, generateKey } from './generate-key.ts'
import { type KeyPolicy, publicationMs, stateOf, successorDueAtMs } from './rotation-schedule.ts'

/** The store deletes keys that no process renewed for this long. */
export const keyLifetimeMs = 90 * 24 * 60 * 60 * 1000

interface Reading {
  readonly store: KeyStore
  readonly policy: KeyPolicy
  /** The result of the previous reading. */
  readonly before: readonly KeyRecord[]
  readonly nowMs: number
}

/**
 * Reads all keys and performs the rotation steps that are due. Every process does this alike: if several store a key
 * at the same time, one wins, and all continue with the keys that the store then has. Oldest first; the digest key is
 * included.
 */
export const readKeys = async (reading: Reading): Promise<readonly KeyRecord[]> => {
  const found = await reading.store.load(reading.nowMs + keyLifetimeMs)
  const lost = findLost(reading, found)
  const whole = await putBack(reading, lost, found)
  const complete = await makeMissing(reading, whole)
  const current = await makeSuccessors(reading, complete)
  return withLost(lost, await removeGone(reading, current))
}

const create = ({ store, nowMs }: Reading, key: KeyRecord, after: string | undefined): Promise<readonly KeyRecord[]> =>
  store.create(key, after, nowMs + keyLifetimeMs)

/**
 * The keys that this process knows and the store has lost. There can be only one digest key, so the store's own wins.
 */
const findLost = (reading: Reading, found: readonly KeyRecord[]): readonly KeyRecord[] =>
  reading.before.filter(key => {
    if (key.alg === digestAlg) return !newestOf(found, digestAlg)
    return !found.some(({ kid }) => kid === key.kid) && !isGone(reading, key, reading.before)
  })

/** If another process has generated keys meanwhile, the keys that sign stay beside them, because both have signed. */
const putBack = async (
  reading: Reading,
  lost: readonly KeyRecord[],
  found: readonly KeyRecord[],
): Promise<readonly KeyRecord[]> => {
  let keys = found
  for (const key of lost) keys = await create(reading, key, newestOf(keys, key.alg)?.kid)
  return keys
}

const makeMissing = async (reading: Reading, found: readonly KeyRecord[]): Promise<readonly KeyRecord[]> => {
  let keys = found
  for (const alg of [digestAlg, ...reading.policy.algorithms] as const) {
    if (!newestOf(keys, alg)) keys = await create(reading, await generateKey(alg, reading.nowMs), undefined)
  }
  return keys
}

const makeSuccessors = async (reading: Reading, found: readonly KeyRecord[]): Promise<readonly KeyRecord[]> => {
  const { policy, nowMs } = reading
  let keys = found
  for (const alg of policy.algorithms) {
    const newest = newestOf(keys, alg)
    if (!newest || nowMs < successorDueAtMs(newest, policy)) continue
    keys = await create(reading, await generateKey(alg, nowMs, nowMs + publicationMs), newest.kid)
  }
  return keys
}

const removeGone = async (reading: Reading, found: readonly KeyRecord[]): Promise<readonly KeyRecord[]> => {
  const gone = found.filter(key => key.alg !== digestAlg && isGone(reading, key, found))
  for (const { kid } of gone) await reading.store.remove(kid)
  return found.filter(key => !gone.includes(key))
}

/** A key that could not be restored, because another one was stored at the same moment, waits for the next reading. */
const withLost = (lost: readonly KeyRecord[], stored: readonly KeyRecord[]): readonly KeyRecord[] => {
  const waiting = lost.filter(key => key.alg !== digestAlg && !stored.some(({ kid }) => kid === key.kid))
  return [...waiting, ...stored]
}

const isGone = ({ policy, nowMs }: Reading, key: KeyRecord, keys: readonly KeyRecord[]): boolean =>
  stateOf(key, keys, policy, nowMs) === 'gone'

/** The key that the store takes for the newest of an algorithm; `keys` are sorted oldest first. */
export const newestOf = (keys: readonly KeyRecord[], alg: string): KeyRecord | undefined =>
  keys.findLast(key => key.alg === alg)
