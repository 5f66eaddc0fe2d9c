import type { ClientAuthFailureReason } from '../../errors.ts'
import type { JsonObject } from '../base64url.ts'
import type { SigningAlg } from '../protocol.ts'
import type { ProofResult } from '../secrets/proof-throttle.ts'
import { type CompactJws, parseJws } from './jws.ts'
import type { KeySource } from './key-source.ts'
import { findSignatureFault } from './public-keys.ts'

/** The rules for a JWT of another party: a client's assertion or request object, or a call of the login application. */
export interface ClientJwtRules {
  /** The algorithms it may be signed with. */
  readonly algs: readonly SigningAlg[]
  /**
   * Its media type without `application/`, as `typ` names it. A JWT without `typ`, or with the type `JWT`, is
   * accepted too.
   */
  readonly typ: string
  /** Whether `typ` is required: then a JWT without `typ`, or with the type `JWT`, is refused. */
  readonly requiresTyp?: boolean
  /** The required `iss`; left out: any holder of one of the keys may have made the JWT. */
  readonly iss?: string
  /** `aud` must be one of these, as a string. */
  readonly audiences: readonly string[]
  /** `aud` may also be a list that contains one of the audiences. */
  readonly takesAudienceList?: boolean
  /** How far in the future its `exp` may be, in seconds. */
  readonly maxLifetimeSec: number
  readonly nowMs: number
  /** The fault in its other claims, if any; left out: they are not checked. */
  findFault?(claims: JsonObject): ClientAuthFailureReason | undefined
}

/**
 * Allowances for clocks that differ. If our clock is ahead of the sender's, a JWT that has just expired is still
 * accepted; if it is behind, a JWT that seems to be issued later is accepted. FAPI 2.0 Security Profile section
 * 5.3.2.1 requires that 10 seconds are accepted and that 60 are refused; half a minute leaves room on either side for
 * a request that took long to arrive.
 */
export const expirySkewSec = 10
const issuedAheadSec = 30

/**
 * The claims of a JWT that follows the rules and is signed with one of the keys. In a proven result `exp` is a
 * number. The claims are checked before the signature, so that no keys are fetched for a JWT that is refused anyway.
 * The caller checks whether the `jti` was used before.
 * @throws OAuthError temporarily_unavailable if the keys cannot be fetched
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

/** Newer keys are fetched if none of the known keys made the signature; then the newer keys decide. */
const checkSignature = (jws: CompactJws, claims: ClientJwtClaims, source: KeySource): ProofResult<ClientJwtClaims> => {
  const keys = source.current()
  if (keys instanceof Promise) return { later: keys }
  const fault = findSignatureFault(keys, jws)
  if (!fault) return { proven: claims }
  const newer = source.refreshed()
  return newer instanceof Promise ? { later: newer } : { fault }
}

const findHeaderFault = ({ alg, header }: CompactJws, rules: ClientJwtRules): ClientAuthFailureReason | undefined => {
  if (!rules.algs.includes(alg)) return 'alg'
  return isOfType(header.typ, rules) ? undefined : 'type'
}

/** RFC 7515 section 4.1.9: the comparison ignores case, and an `application/` prefix is allowed. */
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
