import { type MaybePromise, whenKnown } from '../when-known.ts'
import type { SigningAlg } from '../wire.ts'
import { type CompactJws, type JsonObject, parseJws } from './jws.ts'
import { findAmong, type KeySource } from './key-source.ts'
import { findSigner } from './public-keys.ts'

/** What a JWT must say that somebody else made: a client's assertion or request object, a call of the login. */
export interface ClientJwtRules {
  /** The algorithms it may be signed with. */
  readonly algs: readonly SigningAlg[]
  /** Its own media type without `application/`: what `typ` may name. One that names none, or just `JWT`, is taken too. */
  readonly typ: string
  /** Who must have made it; left out: whoever holds one of the keys. */
  readonly iss?: string
  /** `aud` must be one of these, as one string. */
  readonly audiences: readonly string[]
  /** `aud` may also be a list, if it has one of the audiences. */
  readonly takesAudienceList?: boolean
  /** How far away its `exp` may be, in seconds. */
  readonly longestLifeSec: number
  readonly nowMs: number
}

/**
 * Clocks differ. Ours may be so far ahead that what has just expired is still good, or so far behind that what is issued
 * later is. FAPI 2.0 Security Profile section 5.3.2.1 wants 10 seconds taken and 60 refused; half a minute leaves room on
 * either side for a request that was long on its way.
 */
export const expirySkewSec = 10
const issuedAheadSec = 30

/**
 * The claims of a JWT that keeps to the rules and is signed with one of the keys; undefined for any other. `exp` is a
 * number in what is returned. What the text claims is looked at first, so that keys are not fetched for what is refused
 * anyway. Whether it was used before is for the caller to see to (`jti`).
 * @throws OAuthError temporarily_unavailable where the keys cannot be had
 */
export const verifyClientJwt = (
  token: string,
  keys: KeySource,
  rules: ClientJwtRules,
): MaybePromise<ClientJwtClaims | undefined> => {
  const jws = parseJws(token)
  const claims = jws && claimsWithin(jws, rules)
  if (!claims) return undefined
  return whenKnown(
    findAmong(keys, found => findSigner(found, jws)),
    signer => (signer ? claims : undefined),
  )
}

export type ClientJwtClaims = JsonObject & { readonly exp: number }

/** The claims that a JWT makes, unproven: to learn whose keys it has to be verified with. */
export const readClaims = (token: string): JsonObject | undefined => parseJws(token)?.payload

const claimsWithin = ({ alg, header, payload }: CompactJws, rules: ClientJwtRules): ClientJwtClaims | undefined => {
  if (!rules.algs.includes(alg) || !isOfType(header.typ, rules.typ)) return undefined
  if (rules.iss !== undefined && payload.iss !== rules.iss) return undefined
  return isForAny(payload.aud, rules) && isInTime(payload, rules) ? payload : undefined
}

/** RFC 7515 section 4.1.9: compared without case, and `application/` may stand before it. */
const isOfType = (typ: unknown, expected: string): boolean => {
  if (typ === undefined) return true
  if (typeof typ !== 'string') return false
  const name = typ.toLowerCase().replace(/^application\//, '')
  return name === 'jwt' || name === expected
}

const isForAny = (aud: unknown, { audiences, takesAudienceList = false }: ClientJwtRules): boolean => {
  if (Array.isArray(aud)) return takesAudienceList && aud.some(one => audiences.includes(one))
  return typeof aud === 'string' && audiences.includes(aud)
}

/** RFC 7519 sections 4.1.4 to 4.1.6. */
const isInTime = (claims: JsonObject, { longestLifeSec, nowMs }: ClientJwtRules): claims is ClientJwtClaims => {
  const { exp, nbf, iat } = claims
  const nowSec = nowMs / 1000
  if (typeof exp !== 'number' || exp <= nowSec - expirySkewSec) return false
  if (exp > nowSec + longestLifeSec + issuedAheadSec) return false
  return [nbf, iat].every(at => at === undefined || (typeof at === 'number' && at <= nowSec + issuedAheadSec))
}
