import type { KeyRecord, KeyStore } from '../../stores/ports/keys.ts'
import type { SigningAlg } from '../protocol.ts'
import { generateKey } from './generate-key.ts'
import { keyLifetimeMs, newestOf } from './key-maintenance.ts'
import { activeAtMs, byActivation, publicationMs, spreadMs } from './rotation-schedule.ts'

export interface RotationRequest {
  readonly algorithms: readonly SigningAlg[]
  /** Sign with the new key as soon as every process has it, although clients may still cache a key set without it. */
  readonly isUrgent: boolean
}

/** The result for one algorithm. */
export interface Rotation {
  readonly alg: SigningAlg
  /** The key that signs next. */
  readonly kid: string
  readonly activeAtMs: number
  /** False: there was a successor already that signs soon enough. */
  readonly isNew: boolean
}

/** Gives each algorithm a new key, whether the gateway runs or not: every process finds it at its next reading. */
export const rotateKeys = async (
  store: KeyStore,
  nowMs: number,
  request: RotationRequest,
): Promise<readonly Rotation[]> => {
  const rotations: Rotation[] = []
  for (const alg of request.algorithms) rotations.push(await rotate(store, nowMs, alg, request.isUrgent))
  return rotations
}

const rotate = async (store: KeyStore, nowMs: number, alg: SigningAlg, isUrgent: boolean): Promise<Rotation> => {
  const keys = await store.load(nowMs)
  const before = newestOf(keys, alg)
  const fromMs = before ? nowMs + (isUrgent ? spreadMs : publicationMs) : nowMs
  const waiting = findSuccessor(keys, alg, nowMs, fromMs)
  if (waiting) return { alg, kid: waiting.kid, activeAtMs: activeAtMs(waiting), isNew: false }
  const key = await generateKey(alg, nowMs, fromMs)
  const after = await store.create(key, before?.kid, nowMs + keyLifetimeMs)
  // If two processes rotate at the same time, one wins and the other finds its key.
  const found = after.find(({ kid }) => kid === key.kid) ?? newestOf(after, alg) ?? key
  return { alg, kid: found.kid, activeAtMs: activeAtMs(found), isNew: found.kid === key.kid }
}

/** A key that is already scheduled to sign by then. */
const findSuccessor = (
  keys: readonly KeyRecord[],
  alg: SigningAlg,
  nowMs: number,
  byMs: number,
): KeyRecord | undefined =>
  keys.toSorted(byActivation).find(key => key.alg === alg && nowMs < activeAtMs(key) && activeAtMs(key) <= byMs)
