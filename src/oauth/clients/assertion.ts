import { hash } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { ClientAuthFailureReason } from '../../errors.ts'
import type { JsonObject } from '../base64url.ts'
import type { ClientKeyring } from '../client-keys/keyring.ts'
import { type ClientJwtClaims, expirySkewSec, verifyClientJwt } from '../client-keys/verify-client-jwt.ts'
import { type OAuthRequest, type SigningAlg, strongSigningAlgs } from '../protocol.ts'
import type { SingleUse } from '../replay-protection.ts'
import type { ProofResult } from '../secrets/proof-throttle.ts'
import { type ClientRegistration, isFapiClient, type Profile } from './metadata.ts'

/**
 * Checks whether the client signed this assertion for Sidegate (RFC 7523 section 3). A proven result contains the
 * replay check that must follow.
 * @throws OAuthError temporarily_unavailable if the client's keys cannot be fetched
 */
export type AssertionCheck = (
  client: ClientRegistration,
  assertion: string,
  request: OAuthRequest,
) => ProofResult<Omit<SingleUse, 'refuse'>>

/** The options of the server that an assertion is checked against. */
export interface AssertionOptions {
  readonly issuer: string
  readonly profile: Profile
  readonly endpoints: { readonly token?: string }
}

export const createAssertionCheck = (
  options: AssertionOptions,
  keyring: ClientKeyring,
  clock: Clock,
): AssertionCheck => {
  const { origin } = new URL(options.issuer)

  return (client, assertion, { path }) => {
    const { client_id } = client
    const keys = keyring.find(client)
    if (!keys) return { fault: 'key_unknown' }
    const result = verifyClientJwt(assertion, keys, {
      algs: allowedAlgs(client, options),
      typ: 'client-authentication+jwt',
      iss: client_id,
      audiences: allowedAudiences(client, options, origin + path),
      maxLifetimeSec,
      nowMs: clock.nowMs(),
      findFault: claims => findFault(claims, client_id),
    })
    return 'proven' in result ? { proven: toUse(client_id, result.proven) } : result
  }
}

const findFault = (claims: JsonObject, client_id: string): ClientAuthFailureReason | undefined => {
  if (claims.sub !== client_id) return 'subject'
  if (requestObjectClaims.some(name => Object.hasOwn(claims, name))) return 'wrong_jwt_type'
  return typeof claims.jti === 'string' && claims.jti !== '' ? undefined : 'jti_missing'
}

/**
 * Claims of a request object, which no assertion has: a request object must not be accepted as an assertion (RFC 8725
 * section 3.12).
 */
const requestObjectClaims = ['response_type', 'redirect_uri', 'scope']

const toUse = (client_id: string, { jti, exp }: ClientJwtClaims): Omit<SingleUse, 'refuse'> => ({
  id: toReplayId(client_id, String(jti)),
  untilMs: Math.ceil((exp + expirySkewSec + clockSpreadSec) * 1000),
})

/**
 * The `jti` is stored until the assertion expires, so the lifetime needs a limit. Clients issue assertions for one or
 * a few minutes.
 */
const maxLifetimeSec = 3600

/** How much longer a `jti` is stored than its assertion is valid here, for other machines whose clocks are behind. */
const clockSpreadSec = 60

const allowedAlgs = (client: ClientRegistration, options: AssertionOptions): readonly SigningAlg[] => {
  const pinned = client.token_endpoint_auth_signing_alg
  if (pinned === undefined) return strongSigningAlgs
  return pinned === 'RS256' && isFapiClient(client, options) ? [] : [pinned]
}

/**
 * The issuer alone, by FAPI 2.0 Security Profile section 5.3.2.1: with a URL as `aud`, an attacker can use the
 * assertion after having made the client believe that the attacker's URL is the server's (CVE-2025-27370). Older
 * clients name the endpoint that they call, or always the token endpoint (RFC 7523 section 3, RFC 9126 section 2).
 */
const allowedAudiences = (client: ClientRegistration, options: AssertionOptions, url: string): readonly string[] => {
  const { issuer, endpoints } = options
  if (client.assertion_audience === 'issuer' || isFapiClient(client, options)) return [issuer]
  return [issuer, url, ...(endpoints.token === undefined ? [] : [endpoints.token])]
}

/**
 * A digest, so that the stored id is short, no matter how long the client_id and the `jti` are. JSON joins the two
 * unambiguously.
 */
const toReplayId = (client_id: string, jti: string): string =>
  `assertion:${hash('sha256', JSON.stringify([client_id, jti]), 'base64url')}`
