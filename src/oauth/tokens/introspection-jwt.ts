import { parseAccept, weightOf } from '../../accept.ts'
import type { Clock } from '../../clock.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { OAuthOptions } from '../options.ts'
import { signJwt } from './jwt.ts'

/**
 * Introspection responses as signed JWTs (RFC 9701), for resource servers that must be able to prove later what they
 * received.
 */

export const introspectionJwtType = 'application/token-introspection+jwt'

export interface IntrospectionJwtDeps {
  readonly options: Pick<OAuthOptions, 'issuer'>
  readonly keys: Pick<KeyRing, 'current'>
  readonly clock: Clock
}

/**
 * Signs the response for this client alone. `sub` and `exp` are only inside `token_introspection`, so that the JWT
 * cannot be used as an access token (RFC 9701 sections 5 and 8.1).
 */
export const signIntrospectionJwt = (
  { options, keys, clock }: IntrospectionJwtDeps,
  { client_id, introspection_signed_response_alg: alg }: ClientRegistration,
  answer: Readonly<Record<string, unknown>>,
): string =>
  signJwt(keys.current(alg), 'token-introspection+jwt', {
    iss: options.issuer,
    aud: client_id,
    iat: Math.floor(clock.nowMs() / 1000),
    token_introspection: answer,
  })

/** Whether the client asks for the JWT by its media type (RFC 9701 section 4) and does not prefer JSON. */
export const wantsIntrospectionJwt = (accept: string | undefined): boolean => {
  if (accept === undefined || !mentionsJwt.test(accept)) return false
  const ranges = parseAccept(accept)
  const asJwt = weightOf(ranges, [introspectionJwtType])
  return asJwt > 0 && asJwt >= weightOf(ranges, ['application/json', 'application/*', '*/*'])
}

const mentionsJwt = /application\/token-introspection\+jwt/i
