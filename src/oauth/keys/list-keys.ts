import type { Secret } from '../../secret.ts'
import type { KeyStore } from '../../stores/ports/keys.ts'
import { isSigningAlg } from '../jws-algorithms.ts'
import type { SigningAlg } from '../protocol.ts'
import type { KeyRingOptions } from './key-ring.ts'
import { readOperatorKeys } from './operator-keys.ts'
import {
  activeAtMs,
  byActivation,
  type KeyState,
  keyPolicyOf,
  publishedUntilMs,
  signingAlgsOf,
  stateOf,
} from './rotation-schedule.ts'

/** One signing key as an operator sees it, without secrets. */
export interface ListedKey {
  readonly kid: string
  readonly alg: SigningAlg
  /** `verifying`: a key of the operator's file that does not sign. */
  readonly state: Exclude<KeyState, 'gone'> | 'verifying'
  /** The instants of a stored key; the operator's own keys have none. */
  readonly createdAtMs?: number
  readonly activeAtMs?: number
  /** Left out: there is no successor yet. */
  readonly publishedUntilMs?: number
}

/** The keys in a store, in the order in which they sign. Read-only. */
export const listStoredKeys = async (
  store: KeyStore,
  nowMs: number,
  options: KeyRingOptions,
): Promise<readonly ListedKey[]> => {
  const policy = keyPolicyOf(options)
  const keys = await store.load(nowMs)
  return keys.toSorted(byActivation).flatMap((key): readonly ListedKey[] => {
    const { kid, alg, createdAtMs } = key
    const state = stateOf(key, keys, policy, nowMs)
    if (!isSigningAlg(alg) || state === 'gone') return []
    const untilMs = publishedUntilMs(key, keys, policy)
    const instants = { createdAtMs, activeAtMs: activeAtMs(key) }
    return [{ kid, alg, state, ...instants, ...(Number.isFinite(untilMs) && { publishedUntilMs: untilMs }) }]
  })
}

/** The keys of the operator's file, in its order. @throws Error as `readOperatorKeys` does */
export const listOperatorKeys = async (
  jwks: Secret,
  options: Pick<KeyRingOptions, 'accessToken' | 'clients'>,
): Promise<readonly ListedKey[]> => {
  const algorithms = signingAlgsOf(options)
  const keys = await readOperatorKeys(jwks, algorithms)
  const signing = new Set(algorithms.map(alg => keys.find(key => key.alg === alg)))
  return keys.map(key => ({ kid: key.kid, alg: key.alg, state: signing.has(key) ? 'signing' : 'verifying' }))
}
