import type { ClientAuthFailureReason } from '../../errors.ts'
import { clockSpreadMs } from '../../stores/ports/clock-spread.ts'
import { createStaticKeySource } from '../client-keys/key-source.ts'
import type { JwkSet } from '../client-keys/public-keys.ts'
import { expirySkewSec, verifyClientJwt } from '../client-keys/verify-client-jwt.ts'
import type { OAuthDeps } from '../deps.ts'
import { strongSigningAlgs } from '../protocol.ts'
import type { ProofResult } from '../secrets/proof-throttle.ts'

/**
 * Authenticates a call of the operator's login by its JWT. Undefined if the JWT is valid, else the reason. A valid
 * JWT is signed with a key of the login, has a `typ` of its own, the URL of the login as `iss` and the issuer as
 * `aud`, was issued within the last five minutes, expires within the next five, and was not used before. A client may
 * sign its assertions with the same key, so without the checks of `typ` and `iss` such an assertion would
 * authenticate as the login. The reason is for the developer of that login and repeats nothing of the JWT.
 * @throws StoreUnavailableError
 */
export type LoginAppAuthentication = (token: string) => Promise<string | undefined>

/** A media type for this use alone (RFC 8725 section 3.11). */
const typ = 'sidegate-login+jwt'
const longestLifeSec = 300
const maxJtiLength = 256

export const createLoginAppAuthentication = (
  { options, store, keys, clock }: OAuthDeps,
  jwks: JwkSet,
): LoginAppAuthentication => {
  const source = createStaticKeySource(jwks)
  const { login, issuer } = options
  const iss = login.mode === 'handoff' ? login.url : ''
  const rules = {
    algs: strongSigningAlgs,
    typ,
    requiresTyp: true,
    iss,
    audiences: [issuer],
    maxLifetimeSec: longestLifeSec,
  }
  return async token => {
    const result = verifyClientJwt(token, source, { ...rules, nowMs: clock.nowMs() })
    if (!('proven' in result)) return reasonOf(result)
    const { iat, jti, exp } = result.proven
    const oldestSec = clock.nowMs() / 1000 - longestLifeSec - expirySkewSec
    if (typeof iat !== 'number' || iat < oldestSec) return 'iat is missing or more than five minutes ago'
    if (typeof jti !== 'string' || jti === '' || jti.length > maxJtiLength) return reasons.jti_missing
    const use = { id: keys.digest(`login\0${jti}`), untilMs: (exp + expirySkewSec) * 1000 + clockSpreadMs }
    const [isFirst] = await store.replays.spend([use])
    return isFirst === true ? undefined : reasons.jti_used
  }
}

/** The keys are static, so the result is never `later`. */
const reasonOf = (result: Exclude<ProofResult<unknown>, { readonly proven: unknown }>): string =>
  ('fault' in result && reasons[result.fault]) || 'the JWT is invalid'

const reasons: Readonly<Partial<Record<ClientAuthFailureReason, string>>> = {
  malformed: 'the token is not a signed JWT, or has a crit header',
  alg: `alg is not one of ${strongSigningAlgs.join(', ')}`,
  type: `typ is not ${typ}`,
  issuer: 'iss is not login.url of the configuration',
  audience: 'aud is not the issuer as one string',
  expired: 'exp is missing or has passed',
  lifetime_too_long: 'exp is more than five minutes away',
  nbf_in_future: 'iat or nbf is in the future',
  jti_missing: `jti is missing or is not a string of 1 to ${maxJtiLength} characters`,
  jti_used: 'jti was used before; each call needs a new JWT',
  key_unknown: 'no key of the configuration has this kid and alg',
  signature: 'the signature was made by no key of the configuration',
}
