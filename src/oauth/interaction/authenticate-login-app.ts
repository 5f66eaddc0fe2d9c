import type { ClientAuthFailureReason } from '../../errors.ts'
import { clockSpreadMs } from '../../stores/ports/clock-spread.ts'
import { createStaticKeySource } from '../client-keys/key-source.ts'
import type { JwkSet } from '../client-keys/public-keys.ts'
import { expirySkewSec, verifyClientJwt } from '../client-keys/verify-client-jwt.ts'
import type { OAuthDeps } from '../deps.ts'
import { strongSigningAlgs } from '../protocol.ts'
import type { ProofResult } from '../secrets/proof-throttle.ts'

/**
 * Why a JWT does not prove that the operator's login calls; undefined where it does: signed with one of its keys, of a `typ` of
 * its own, `iss` the URL of the login, `aud` the issuer, made and ending within five minutes, and never seen before. A client may
 * sign its assertions with the same key, so without `typ` and `iss` such an assertion would be taken for the login's word.
 * The reason is a sentence for the developer of that login, and repeats nothing of the JWT.
 * @throws StoreUnavailableError
 */
export type LoginAppAuthentication = (token: string) => Promise<string | undefined>

/** Its own media type (RFC 8725 section 3.11). */
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
    if (typeof iat !== 'number' || iat < oldestSec) return 'iat is missing, or more than five minutes ago'
    if (typeof jti !== 'string' || jti === '' || jti.length > maxJtiLength) return reasons.jti_missing
    const use = { id: keys.digest(`login\0${jti}`), untilMs: (exp + expirySkewSec) * 1000 + clockSpreadMs }
    const [isFirst] = await store.replays.spend([use])
    return isFirst === true ? undefined : reasons.jti_used
  }
}

/** The keys are at hand, so that nothing comes later. */
const reasonOf = (result: Exclude<ProofResult<unknown>, { readonly proven: unknown }>): string =>
  ('fault' in result && reasons[result.fault]) || 'the JWT is not good'

const reasons: Readonly<Partial<Record<ClientAuthFailureReason, string>>> = {
  malformed: 'the text is no signed JWT, or names an extension in crit',
  alg: `alg is none of ${strongSigningAlgs.join(', ')}`,
  type: `typ is not ${typ}`,
  issuer: 'iss is not login.url of the configuration',
  audience: 'aud is not the issuer as one string',
  expired: 'exp is missing, or has passed',
  lifetime_too_long: 'exp is more than five minutes away',
  nbf_in_future: 'iat or nbf is in the future',
  jti_missing: `jti is missing, or no text of 1 to ${maxJtiLength} characters`,
  jti_used: 'jti was used before: each call takes a JWT of its own',
  key_unknown: 'no key of the configuration has this kid and alg',
  signature: 'the signature was made by no key of the configuration',
}
