import { createPublicKey, type KeyObject } from 'node:crypto'
import { isKeyOfAlg, minRsaBits } from '../jws-algorithms.ts'
import type { SigningAlg } from '../protocol.ts'
import { type CompactJws, isSignedBy } from './jws.ts'

/** RFC 7517 section 5. */
export interface JwkSet {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

/** One public key of another party. */
export interface PublicKey {
  /** Left out: the set has no `kid` for this key. */
  readonly kid?: string
  /** The only algorithm of this key (RFC 7517 section 4.4); left out: any algorithm that fits. */
  readonly alg?: string
  readonly key: KeyObject
}

/** At most this many usable keys of a set are kept, the first ones: another party decides how long the set is. */
const maxKeys = 20
/** A signature is verified with at most this many keys. A client with more keys of one type names the key by `kid`. */
const maxTried = 4

/**
 * The keys of a set that can verify a signature here. Encryption keys, keys whose `key_ops` lacks `verify`, symmetric
 * keys, keys that exceed the limits and keys that Node cannot parse are left out. One unusable key does not make the
 * other keys unusable.
 */
export const toPublicKeys = ({ keys }: JwkSet): readonly PublicKey[] => keys.flatMap(toPublicKey).slice(0, maxKeys)

/** The fault if none of these keys made the signature; undefined if one did. */
export const findSignatureFault = (
  keys: readonly PublicKey[],
  jws: CompactJws,
): 'key_unknown' | 'signature' | undefined => {
  const candidates = keys.filter(key => isCandidate(key, jws))
  if (candidates.length === 0) return 'key_unknown'
  return byKidFirst(candidates, jws)
    .slice(0, maxTried)
    .some(({ key }) => isSignedBy(jws, key))
    ? undefined
    : 'signature'
}

/**
 * A `kid` that only the key or only the header has decides nothing. If both have one and they differ, another key
 * made the signature.
 */
const isCandidate = ({ kid, alg, key }: PublicKey, { alg: signedAlg, header }: CompactJws): boolean =>
  (alg === undefined || alg === signedAlg) &&
  (kid === undefined || header.kid === undefined || kid === header.kid) &&
  fitsAlg(signedAlg, key)

const byKidFirst = (keys: readonly PublicKey[], { header }: CompactJws): readonly PublicKey[] =>
  header.kid === undefined ? keys : keys.toSorted((a, b) => Number(a.kid === undefined) - Number(b.kid === undefined))

const toPublicKey = (jwk: Readonly<Record<string, unknown>>): readonly PublicKey[] => {
  const { kid, alg } = jwk
  if (!isForVerification(jwk)) return []
  try {
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
    if (findKeyLimitFault(key)) return []
    return [{ key, ...(typeof kid === 'string' && { kid }), ...(typeof alg === 'string' && { alg }) }]
  } catch {
    return []
  }
}

/** How a public key exceeds the limits. */
export type KeyLimitFault = 'too_short' | 'too_long' | 'exponent_too_long'

/**
 * The limits on RSA keys of other parties. A verification takes longer the longer the key is, and the other party
 * chooses the key.
 */
export const maxRsaBits = 4096
export const maxExponentBits = 32

/** Undefined: the key is within the limits. Only RSA keys have different lengths. */
export const findKeyLimitFault = ({
  asymmetricKeyType,
  asymmetricKeyDetails,
}: KeyObject): KeyLimitFault | undefined => {
  if (asymmetricKeyType !== 'rsa') return undefined
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {}
  if (modulusLength < minRsaBits) return 'too_short'
  if (modulusLength > maxRsaBits) return 'too_long'
  return publicExponent >> BigInt(maxExponentBits) > 0n ? 'exponent_too_long' : undefined
}

/** Whether a public key is one for the algorithm, and within the limits. */
export const fitsAlg = (alg: SigningAlg, key: KeyObject): boolean =>
  isKeyOfAlg(alg, key) && findKeyLimitFault(key) === undefined

/**
 * Whether a JWK may verify signatures by its `use` and `key_ops` (RFC 7517 sections 4.2 and 4.3). A key without these
 * members may. A `key_ops` that is not a list of strings is malformed, so such a key may not.
 */
export const isForVerification = ({ use, key_ops }: Readonly<Record<string, unknown>>): boolean =>
  (use === undefined || use === 'sig') &&
  (key_ops === undefined || (isKeyOperations(key_ops) && key_ops.includes('verify')))

/** Whether a `key_ops` is well-formed. */
export const isKeyOperations = (key_ops: unknown): key_ops is readonly string[] =>
  Array.isArray(key_ops) && key_ops.every(operation => typeof operation === 'string')
