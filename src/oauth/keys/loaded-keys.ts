import { createHmac } from 'node:crypto'
import type { KeyRecord } from '../../stores/ports/keys.ts'
import { isSigningAlg } from '../jws-algorithms.ts'
import type { Digest } from '../opaque-token.ts'
import type { SigningAlg } from '../protocol.ts'
import { digestAlg } from './generate-key.ts'
import { activeAtMs, byActivation } from './rotation-schedule.ts'
import { type PublicJwk, type SigningKey, toSigningKey } from './signing-key.ts'

/** The parsed keys of one reading, ready to sign and to verify. */
export interface LoadedKeys {
  readonly byKid: ReadonlyMap<string, SigningKey>
  /** HMAC-SHA-256 under the store's own digest key. */
  readonly digest: Digest
  readonly jwks: PublicJwks
  /** The active key. @throws TypeError if there is no key of this algorithm */
  current(alg: SigningAlg, nowMs: number): SigningKey
}

/** RFC 7517 section 5. */
export interface PublicJwks {
  readonly keys: readonly PublicJwk[]
}

/** A key and the instant from which on it signs. */
interface Activation {
  readonly key: SigningKey
  readonly fromMs: number
}

/**
 * @param before the keys of the previous reading, so that no key is parsed twice
 * @param operatorKeys sign and verify in place of the stored keys
 */
export const toLoadedKeys = (
  records: readonly KeyRecord[],
  before: LoadedKeys | undefined,
  operatorKeys: readonly SigningKey[] | undefined,
): LoadedKeys => {
  const activations = operatorKeys ? toFileActivations(operatorKeys) : toStoredActivations(records, before)
  const byAlg = Map.groupBy(activations, ({ key }) => key.alg)
  const keys = activations.map(({ key }) => key)
  return {
    byKid: new Map(keys.map(key => [key.kid, key])),
    digest: toDigest(records),
    jwks: { keys: keys.map(({ publicJwk }) => publicJwk) },
    current: (alg, nowMs) => {
      const activations = byAlg.get(alg)
      // A clock that is behind may find no active key yet; then the first one signs.
      const active = activations?.findLast(({ fromMs }) => fromMs <= nowMs) ?? activations?.[0]
      if (active) return active.key
      throw new TypeError(`there is no key that signs with ${alg}`)
    },
  }
}

/** The first key of the operator's file signs, so it is the last in the order of activation. */
const toFileActivations = (keys: readonly SigningKey[]): readonly Activation[] =>
  keys.map(key => ({ key, fromMs: Number.NEGATIVE_INFINITY })).reverse()

const toStoredActivations = (records: readonly KeyRecord[], before: LoadedKeys | undefined): readonly Activation[] =>
  records
    .filter(({ alg }) => isSigningAlg(alg)) // leaves out the digest key and keys that a later version has made
    .sort(byActivation)
    .map(record => ({ key: before?.byKid.get(record.kid) ?? toSigningKey(record), fromMs: activeAtMs(record) }))

/** @throws Error if there is no digest key yet */
export const toDigest = (records: readonly KeyRecord[]): Digest => {
  const encoded = records.findLast(({ alg }) => alg === digestAlg)?.jwk.k
  if (typeof encoded !== 'string') throw new Error('the store holds no usable digest key')
  const key = Buffer.from(encoded, 'base64url')
  return text => createHmac('sha256', key).update(text).digest('base64url')
}

/** As `toDigest`; undefined if no gateway has generated the digest key yet. */
export const findDigest = (records: readonly KeyRecord[]): Digest | undefined =>
  records.some(({ alg }) => alg === digestAlg) ? toDigest(records) : undefined
