import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import type { Secret } from '../../secret.ts'
import type { SigningAlg } from '../protocol.ts'
import { type SigningKey, toSigningKey } from './signing-key.ts'

/**
 * The operator's own keys: the first one of each algorithm signs, the others verify tokens that they have signed or
 * will sign. Every key has an `alg`; the `kid` of a key without one is its thumbprint (RFC 7638).
 * @param text a private JWK set (RFC 7517 section 5) that the configuration has checked
 * @param algorithms the algorithms that must have a key
 * @throws Error one line for the operator that quotes nothing of the keys
 */
export const readOperatorKeys = async (
  text: Secret,
  algorithms: readonly SigningAlg[],
): Promise<readonly SigningKey[]> => {
  const keys = await Promise.all(parseSet(text).map(toKey))
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) throw new Error('keys.jwks: two keys have the same kid')
  const missing = algorithms.filter(wanted => !keys.some(({ alg }) => alg === wanted))
  if (missing.length > 0) throw new Error(`keys.jwks: there is no key for ${missing.join(', ')}`)
  return keys
}

type Jwk = Readonly<Record<string, unknown>>

const parseSet = (text: Secret): readonly Jwk[] => {
  try {
    return (JSON.parse(text.reveal()) as { readonly keys: readonly Jwk[] }).keys
  } catch {
    throw new Error('keys.jwks: the text is not a JWK set') // the parser's message would quote the text
  }
}

const toKey = async (jwk: Jwk): Promise<SigningKey> => {
  const kid = typeof jwk.kid === 'string' ? jwk.kid : await calculateJwkThumbprint({ ...jwk })
  return toSigningKey({ kid, alg: String(jwk.alg), jwk })
}
