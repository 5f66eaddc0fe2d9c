import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import type { Secret } from '../../secret.ts'
import type { SigningAlg } from '../protocol.ts'
import { type SigningKey, toSigningKey } from './signing-key.ts'

/**
 * The operator's own keys: of each algorithm the first one signs, and the others verify what they have signed or will
 * sign. Every key says its `alg`; one without `kid` is named by its thumbprint (RFC 7638).
 * @param text a private JWK set (RFC 7517 section 5), as the configuration has checked it
 * @param algorithms what has to be signed with
 * @throws Error one line for a person, which repeats nothing of the keys
 */
export const readOperatorKeys = async (
  text: Secret,
  algorithms: readonly SigningAlg[],
): Promise<readonly SigningKey[]> => {
  const keys = await Promise.all(parseSet(text).map(toKey))
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) throw new Error('keys.jwks: two keys have one kid')
  const missing = algorithms.filter(wanted => !keys.some(({ alg }) => alg === wanted))
  if (missing.length > 0) throw new Error(`keys.jwks: there is no key for ${missing.join(', ')}`)
  return keys
}

type Jwk = Readonly<Record<string, unknown>>

const parseSet = (text: Secret): readonly Jwk[] => {
  try {
    return (JSON.parse(text.reveal()) as { readonly keys: readonly Jwk[] }).keys
  } catch {
    throw new Error('keys.jwks: the text is no JWK set') // the reason would quote it
  }
}

const toKey = async (jwk: Jwk): Promise<SigningKey> => {
  const kid = typeof jwk.kid === 'string' ? jwk.kid : await calculateJwkThumbprint({ ...jwk })
  return toSigningKey({ kid, alg: String(jwk.alg), jwk })
}
