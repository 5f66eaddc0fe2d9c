import type { ClientAuthFailureReason } from '../../errors.ts'
import type { JsonObject } from '../base64url.ts'
import type { SigningAlg } from '../protocol.ts'
import type { ProofResult } from '../secrets/proof-throttle.ts'
import { type CompactJws, parseJws } from './jws.ts'
import type { KeySource } from './key-source.ts'
import { findSignatureFault } from './public-keys.ts'

/** What a JWT must say that somebody else made: a client's assertion or request object, a call of the login. */
export interface ClientJwtRules {
  /** The algorithms it may be signed with. */
  readonly algs: readonly SigningAlg[]
  /** Its own media type without `application/`: what `typ` may name. One that names none, or just `JWT`, is taken too. */
  readonly typ: string
  /** Whether `typ` must name it: a JWT without `typ`, or of the type `JWT`, is refused. */
  readonly requiresTyp?: boolean
  /** Who must have made it; left out: whoever holds one of the keys. */
  readonly iss?: string
  /** `aud` must be one of these, as one string. */
  readonly audiences: readonly string[]
  /** `aud` may also be a list, if it has one of the audiences. */
  readonly takesAudienceList?: boolean
  /** How far away its `exp` may be, in seconds. */
  readonly maxLifetimeSec: number
  readonly nowMs: number
  /** What is wrong with its other claims; left out: nothing can be. */
  findFault?(claims: JsonObject): ClientAuthFailureReason | undefined
}

/**
 * Clocks differ. Ours may be so far ahead that what has just expired is still good, or so far behind that what is issued
 * later is. FAPI 2.0 Security Profile section 5.3.2.1 wants 10 seconds taken and 60 refused; half a minute leaves room on
 * either side for a request that was long on its way.
 */
export const expirySkewSec = 10
const issuedAheadSec = 30

/**
 * The claims of a JWT that keeps to the rules and is signed with one of the keys. `exp` is a number in what is proven.
 * What the text claims is looked at first, so that keys are not fetched for what is refused anyway. Whether it was used
 * before is for the caller to see to (`jti`).
 * @throws OAuthError temporarily_unavailable where the keys cannot be had
 */
export const verifyClientJwt = (
  token: string,
  source: KeySource,
  rules: ClientJwtRules,
): ProofResult<ClientJwtClaims> => {
  const jws = parseJws(token)
  if ('fault' in jws) return jws
  const { exp } = jws.payload
  if (typeof exp !== 'number') return { fault: 'expired' }
  const claims = { ...jws.payload, exp }
  const fault = findHeaderFault(jws, rules) ?? findClaimsFault(claims, rules) ?? rules.findFault?.(claims)
  return fault ? { fault } : checkSignature(jws, claims, source)
}

export type ClientJwtClaims = JsonObject & { readonly exp: number }

/** Newer keys are asked for where none at hand has signed, and what they say then counts. */
const checkSignature = (jws: CompactJws, claims: ClientJwtClaims, source: KeySource): ProofResult<ClientJwtClaims> => {
  const keys = source.current()
  if (keys instanceof Promise) return { later: keys }
  const fault = findSignatureFault(keys, jws)
  if (!fault) return { proven: claims }
  const newer = source.renewed()
  return newer instanceof Promise ? { later: newer } : { fault }
}

const findHeaderFault = ({ alg, header }: CompactJws, rules: ClientJwtRules): ClientAuthFailureReason | undefined => {
  if (!rules.algs.includes(alg)) return 'alg'
  return isOfType(header.typ, rules) ? undefined : 'type'
}

/** RFC 7515 section 4.1.9: compared without case, and `application/` may stand before it. */
const isOfType = (typ: unknown, { typ: expected, requiresTyp = false }: ClientJwtRules): boolean => {
  if (typ === undefined) return !requiresTyp
  if (typeof typ !== 'string') return false
  const name = typ.toLowerCase().replace(/^application\//, '')
  return name === expected || (name === 'jwt' && !requiresTyp)
}

const findClaimsFault = (claims: ClientJwtClaims, rules: ClientJwtRules): ClientAuthFailureReason | undefined => {
  if (rules.iss !== undefined && claims.iss !== rules.iss) return 'issuer'
  return isForAny(claims.aud, rules) ? findTimeFault(claims, rules) : 'audience'
}

const isForAny = (aud: unknown, { audiences, takesAudienceList = false }: ClientJwtRules): boolean => {
  if (Array.isArray(aud)) return takesAudienceList && aud.some(one => audiences.includes(one))
  return typeof aud === 'string' && audiences.includes(aud)
}

/** RFC 7519 sections 4.1.4 to 4.1.6. */
const findTimeFault = (
  { exp, nbf, iat }: ClientJwtClaims,
  { maxLifetimeSec, nowMs }: ClientJwtRules,
): ClientAuthFailureReason | undefined => {
  const nowSec = nowMs / 1000
  if (exp <= nowSec - expirySkewSec) return 'expired'
  if (exp > nowSec + maxLifetimeSec + issuedAheadSec) return 'lifetime_too_long'
  const isPast = (at: unknown): boolean => at === undefined || (typeof at === 'number' && at <= nowSec + issuedAheadSec)
  return isPast(nbf) && isPast(iat) ? undefined : 'nbf_in_future'
}
