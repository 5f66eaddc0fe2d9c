import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import {
  findKeyLimitFault,
  fitsAlg,
  isForVerification,
  isKeyOperations,
  maxExponentBits,
  maxRsaBits,
} from '../../oauth/client-keys/public-keys.ts'
import { minRsaBits } from '../../oauth/jws-algorithms.ts'
import { type SigningAlg, signingAlgs } from '../../oauth/protocol.ts'
import { ownMember } from '../../own-member.ts'

/** JSON Web Keys (RFC 7517) as they stand in the configuration: what is wrong with one and what would be right. */

export type Jwk = Readonly<Record<string, unknown>>

/** A key that others may see. No message repeats what the key holds. */
export const publicJwkFault = (jwk: Jwk): string | undefined => {
  if (jwk.kty === 'oct' || 'k' in jwk) return 'is symmetric; only public keys stand here'
  if (jwk.key_ops !== undefined && !isKeyOperations(jwk.key_ops)) {
    return 'has a key_ops that is not a list of texts, such as ["verify"] (RFC 7517 section 4.3)'
  }
  const secret = privateMembers.find(member => Object.hasOwn(jwk, member))
  if (secret) return `has the private member ${secret}; remove all private ones, and take a new key where others saw it`
  const key = readKey(() => createPublicKey({ key: { ...jwk }, format: 'jwk' }))
  return key ? strengthFault(key) : 'is no public key; an EC, RSA or OKP one has all its public members (RFC 7518)'
}

/** A key to sign with, which says by `alg` how. */
export const signingJwkFault = (jwk: Jwk): string | undefined => {
  const key = readKey(() => createPrivateKey({ key: { ...jwk }, format: 'jwk' }))
  if (!key) return 'is no private key; an EC, RSA or OKP one has all its private members (RFC 7518)'
  const alg = signingAlgs.find(known => known === jwk.alg)
  if (!alg) return `needs alg, one of ${signingAlgs.join(', ')}`
  const fault = strengthFault(key)
  if (fault) return fault
  return fitsAlg(alg, key) ? undefined : `cannot sign with ${alg}; its alg names another kind of key`
}

/** A key may say by `alg`, `use` and `key_ops` what it is for. */
const canVerify = (jwk: Jwk, alg: SigningAlg): boolean => {
  if ((jwk.alg ?? alg) !== alg || !isForVerification(jwk)) return false
  const key = readKey(() => createPublicKey({ key: { ...jwk }, format: 'jwk' }))
  return key !== undefined && fitsAlg(alg, key)
}

/** Whether whoever signs with one of `algs` can be known by one of these. */
export const haveKeyFor = (keys: readonly Jwk[], algs: readonly SigningAlg[]): boolean =>
  keys.some(jwk => algs.some(alg => canVerify(jwk, alg)))

/** How tokens name a key: its `kid`, else its thumbprint (RFC 7638). */
export const kidOf = (jwk: Jwk): string => {
  if (typeof jwk.kid === 'string') return jwk.kid
  const named = thumbprintMembers
    .filter(member => Object.hasOwn(jwk, member))
    .map(member => [member, ownMember(jwk, member)])
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(named)))
    .digest('base64url')
}

/** In the order of RFC 7638 section 3.3; an RSA key has no more than e, kty and n of them. */
const thumbprintMembers = ['crv', 'e', 'kty', 'n', 'x', 'y']

const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth']

const readKey = (read: () => KeyObject): KeyObject | undefined => {
  try {
    return read()
  } catch {
    return undefined // the reason may quote the key
  }
}

const strengthFault = (key: KeyObject): string | undefined => {
  switch (findKeyLimitFault(key)) {
    case 'too_short':
      return `is too short; an RSA key has ${minRsaBits} bits or more (RFC 7518 section 3.3)`
    case 'too_long':
      return `is too long; an RSA key has ${maxRsaBits} bits at most here`
    case 'exponent_too_long':
      return `has too long an exponent; e of an RSA key has ${maxExponentBits} bits at most here, and is AQAB as a rule`
    case undefined:
      return undefined
  }
}
