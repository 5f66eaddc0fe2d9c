import { hash } from 'node:crypto'
import { expirySkewSec, verifyClientJwt } from '../client-keys/client-jwt.ts'
import type { ClientKeyring } from '../client-keys/key-source.ts'
import type { OAuthDeps } from '../deps.ts'
import type { OneUse } from '../one-time.ts'
import { type ClientRegistration, keepsToFapi, type OAuthOptions } from '../options.ts'
import { type MaybePromise, whenKnown } from '../when-known.ts'
import { type OAuthRequest, type SigningAlg, strongSigningAlgs } from '../wire.ts'

/**
 * Whether an assertion is one that the client signed for us (RFC 7523 section 3): what has to be spent if it is, else
 * undefined. Without a client the answer is undefined.
 * @throws OAuthError temporarily_unavailable where the client's keys cannot be had
 */
export type AssertionCheck = (
  client: ClientRegistration | undefined,
  assertion: string,
  request: OAuthRequest,
) => MaybePromise<Omit<OneUse, 'refuse'> | undefined>

export const createAssertionCheck = ({ options, clock }: OAuthDeps, keyring: ClientKeyring): AssertionCheck => {
  const { origin } = new URL(options.issuer)

  return (client, assertion, { path }) => {
    const keys = client && keyring.find(client)
    if (!keys) return undefined
    const rules = {
      algs: allowedAlgs(client, options),
      typ: 'client-authentication+jwt',
      iss: client.client_id,
      audiences: allowedAudiences(client, options, origin + path),
      longestLifeSec,
      nowMs: clock.nowMs(),
    }
    return whenKnown(verifyClientJwt(assertion, keys, rules), claims => {
      if (claims?.sub !== client.client_id || typeof claims.jti !== 'string' || claims.jti === '') return undefined
      const untilSec = claims.exp + expirySkewSec + clockSpreadSec
      return { id: toReplayId(client.client_id, claims.jti), untilMs: Math.ceil(untilSec * 1000) }
    })
  }
}

/** Each is remembered until it ends: nobody may have that last for ever. Clients make theirs for a minute or a few. */
const longestLifeSec = 3600

/** How much longer an id is kept than its assertion is good here, for other machines whose clocks are behind ours. */
const clockSpreadSec = 60

const allowedAlgs = (client: ClientRegistration, options: OAuthOptions): readonly SigningAlg[] => {
  const pinned = client.token_endpoint_auth_signing_alg
  if (pinned === undefined) return strongSigningAlgs
  return pinned === 'RS256' && keepsToFapi(client, options) ? [] : [pinned]
}

/**
 * The issuer alone, by FAPI 2.0 Security Profile section 5.3.2.1: an assertion for an URL can be used by whoever made the
 * client believe that the URL is theirs (CVE-2025-27370). Older clients name the endpoint, or the token endpoint whichever
 * they call (RFC 7523 section 3, RFC 9126 section 2).
 */
const allowedAudiences = (client: ClientRegistration, options: OAuthOptions, url: string): readonly string[] => {
  const { issuer, endpoints } = options
  if (client.assertion_audience === 'issuer' || keepsToFapi(client, options)) return [issuer]
  return [issuer, url, ...(endpoints.token === undefined ? [] : [endpoints.token])]
}

/** A digest: however long the client's name and the `jti`, the store keeps as little. JSON makes the two one text, unambiguously. */
const toReplayId = (client_id: string, jti: string): string =>
  `assertion:${hash('sha256', JSON.stringify([client_id, jti]), 'base64url')}`
