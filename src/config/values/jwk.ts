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

/** JSON Web Keys (RFC 7517) in the configuration: their faults and corrections. */

export type Jwk = Readonly<Record<string, unknown>>

/** The fault of a public key. No message repeats a part of the key. */
export const publicJwkFault = (jwk: Jwk): string | undefined => {
  if (jwk.kty === 'oct' || 'k' in jwk) return 'is symmetric; only public keys are allowed here'
  if (jwk.key_ops !== undefined && !isKeyOperations(jwk.key_ops)) {
    return 'has a key_ops that is not a list of texts, such as ["verify"] (RFC 7517 section 4.3)'
  }
  const secret = privateMembers.find(member => Object.hasOwn(jwk, member))
  if (secret)
    return `has the private member ${secret}; remove all private members, and replace the key if others could read it`
  const key = readKey(() => createPublicKey({ key: { ...jwk }, format: 'jwk' }))
  return key ? strengthFault(key) : 'is not a public key; an EC, RSA or OKP key needs all its public members (RFC 7518)'
}

/** The fault of a signing key, which names its algorithm in `alg`. */
export const signingJwkFault = (jwk: Jwk): string | undefined => {
  const key = readKey(() => createPrivateKey({ key: { ...jwk }, format: 'jwk' }))
  if (!key) return 'is not a private key; an EC, RSA or OKP key needs all its private members (RFC 7518)'
  const alg = signingAlgs.find(known => known === jwk.alg)
  if (!alg) return `needs alg, one of ${signingAlgs.join(', ')}`
  const fault = strengthFault(key)
  if (fault) return fault
  return fitsAlg(alg, key) ? undefined : `cannot sign with ${alg}; alg must fit the type of the key`
}

/** Whether `alg`, `use` and `key_ops` of a key allow to verify with it. */
const canVerify = (jwk: Jwk, alg: SigningAlg): boolean => {
  if ((jwk.alg ?? alg) !== alg || !isForVerification(jwk)) return false
  const key = readKey(() => createPublicKey({ key: { ...jwk }, format: 'jwk' }))
  return key !== undefined && fitsAlg(alg, key)
}

/** Whether one of the keys can verify a signature with one of `algs`. */
export const haveKeyFor = (keys: readonly Jwk[], algs: readonly SigningAlg[]): boolean =>
  keys.some(jwk => algs.some(alg => canVerify(jwk, alg)))

/** The `kid` of a key in tokens: its own, otherwise its thumbprint (RFC 7638). */
export const kidOf = (jwk: Jwk): string => {
  if (typeof jwk.kid === 'string') return jwk.kid
  const named = thumbprintMembers
    .filter(member => Object.hasOwn(jwk, member))
    .map(member => [member, ownMember(jwk, member)])
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(named)))
    .digest('base64url')
}

/** In the order of RFC 7638 section 3.3. Of these, a public RSA key has only e, kty and n. */
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
      return `is too long; an RSA key has at most ${maxRsaBits} bits here`
    case 'exponent_too_long':
      return `has too long an exponent; e of an RSA key has ${maxExponentBits} bits at most here, and usually is AQAB`
    case undefined:
      return undefined
  }
}
