import { createPublicKey, type KeyObject } from 'node:crypto'
import type { JwkSet } from '../options.ts'
import { type CompactJws, isSignedBy } from './jws.ts'

/** One public key that somebody registered. */
export interface PublicKey {
  /** Left out: the set does not name it. */
  readonly kid?: string
  /** The one algorithm it is for (RFC 7517 section 4.4); left out: any that fits. */
  readonly alg?: string
  readonly key: KeyObject
}

/**
 * The keys of a set that can prove anything to us. Encryption keys, symmetric ones and those that node cannot read are
 * left out: one that nobody can use is no reason to refuse the others.
 */
export const toPublicKeys = ({ keys }: JwkSet): readonly PublicKey[] => keys.flatMap(toPublicKey)

/** The key that signed, if it is one of these and may. */
export const findSigner = (keys: readonly PublicKey[], jws: CompactJws): PublicKey | undefined =>
  keys.find(key => isMeant(key, jws) && isSignedBy(jws, key.key))

/** A `kid` on either side alone says nothing; two that differ say that another key signed. */
const isMeant = ({ kid, alg }: PublicKey, { alg: signedAlg, header }: CompactJws): boolean =>
  (alg === undefined || alg === signedAlg) && (kid === undefined || header.kid === undefined || kid === header.kid)

const toPublicKey = (jwk: Readonly<Record<string, unknown>>): readonly PublicKey[] => {
  const { kid, alg, use } = jwk
  if (use !== undefined && use !== 'sig') return []
  try {
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
    return [{ key, ...(typeof kid === 'string' && { kid }), ...(typeof alg === 'string' && { alg }) }]
  } catch {
    return []
  }
}
