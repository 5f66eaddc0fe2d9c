import { createPublicKey, type KeyObject } from 'node:crypto'
import { type CompactJws, fitsAlg, isSignedBy } from './jws.ts'
import { findKeyBoundsFault } from './key-limits.ts'
import { isForVerification } from './key-use.ts'

/** RFC 7517 section 5. */
export interface JwkSet {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

/** One public key that somebody registered. */
export interface PublicKey {
  /** Left out: the set does not name it. */
  readonly kid?: string
  /** The one algorithm it is for (RFC 7517 section 4.4); left out: any that fits. */
  readonly alg?: string
  readonly key: KeyObject
}

/** Of a set no more usable keys are kept than these, its first: others say how long it is. */
const mostKeys = 20
/** A signature is tried with so many keys at most: a client with more of one kind names by `kid` which it used. */
const mostTried = 4

/**
 * The keys of a set that can prove anything to us. Encryption keys, keys whose `key_ops` lacks `verify`, symmetric ones, those out of bounds and those that
 * node cannot read are left out: one that nobody can use is no reason to refuse the others.
 */
export const toPublicKeys = ({ keys }: JwkSet): readonly PublicKey[] => keys.flatMap(toPublicKey).slice(0, mostKeys)

/** Why none of these keys signed; undefined where one did. */
export const findSignatureFault = (
  keys: readonly PublicKey[],
  jws: CompactJws,
): 'key_unknown' | 'signature' | undefined => {
  const meant = keys.filter(key => isMeant(key, jws))
  if (meant.length === 0) return 'key_unknown'
  return nameFirst(meant, jws)
    .slice(0, mostTried)
    .some(({ key }) => isSignedBy(jws, key))
    ? undefined
    : 'signature'
}

/** A `kid` on either side alone says nothing; two that differ say that another key signed. */
const isMeant = ({ kid, alg, key }: PublicKey, { alg: signedAlg, header }: CompactJws): boolean =>
  (alg === undefined || alg === signedAlg) &&
  (kid === undefined || header.kid === undefined || kid === header.kid) &&
  fitsAlg(signedAlg, key)

const nameFirst = (keys: readonly PublicKey[], { header }: CompactJws): readonly PublicKey[] =>
  header.kid === undefined ? keys : keys.toSorted((a, b) => Number(a.kid === undefined) - Number(b.kid === undefined))

const toPublicKey = (jwk: Readonly<Record<string, unknown>>): readonly PublicKey[] => {
  const { kid, alg } = jwk
  if (!isForVerification(jwk)) return []
  try {
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
    if (findKeyBoundsFault(key)) return []
    return [{ key, ...(typeof kid === 'string' && { kid }), ...(typeof alg === 'string' && { alg }) }]
  } catch {
    return []
  }
}
