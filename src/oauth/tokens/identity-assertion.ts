import type { Clock } from '../../clock.ts'
import { randomText } from '../../random-text.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { OAuthOptions } from '../options.ts'
import { signJwt } from './jwt.ts'

/** The proof of the caller's identity: a verified access token, or a client that has authenticated. */
export type Proof = AccessTokenRecord | ClientRegistration

/**
 * Signs the identity of the caller for a service behind the gateway.
 * @param resource of the grouping: the audience
 * @throws StoreUnavailableError if no keys have been loaded
 */
export type SignIdentity = (proof: Proof, grouping: string, resource: string) => string

/** How long the service may accept it. */
const lifetimeSec = 60

interface Assertion {
  readonly jwt: string
  /**
   * By the monotonic clock. After this instant a new assertion is signed, so that a sent one has at least half its
   * lifetime left.
   */
  readonly renewAtMs: number
}

export interface IdentityAssertionDeps {
  readonly options: Pick<OAuthOptions, 'issuer' | 'accessToken'>
  readonly keys: Pick<KeyRing, 'current'>
  readonly clock: Clock
}

/**
 * The assertions have their own `typ`, so that they cannot be confused with access tokens (RFC 8725 section 3.11). A
 * signature costs as much as the rest of a request, so requests with the same token share one assertion. It is cached
 * with the token's record, which is the same object as long as the token is cached.
 */
export const createIdentityAssertions = (deps: IdentityAssertionDeps): SignIdentity => {
  const byGrouping = new Map<string, WeakMap<Proof, Assertion>>()
  return (proof, grouping, resource) => {
    const known = byGrouping.get(grouping) ?? new WeakMap<Proof, Assertion>()
    byGrouping.set(grouping, known)
    const kept = known.get(proof)
    if (kept && deps.clock.monotonicMs() < kept.renewAtMs) return kept.jwt
    const made = sign(deps, proof, grouping, resource)
    known.set(proof, made)
    return made.jwt
  }
}

/** The assertion expires with its token if that is sooner. */
const sign = (
  { options, keys, clock }: IdentityAssertionDeps,
  proof: Proof,
  grouping: string,
  resource: string,
): Assertion => {
  const nowMs = clock.nowMs()
  const iat = Math.floor(nowMs / 1000)
  const token = 'jti' in proof ? proof : undefined
  const exp = Math.min(iat + lifetimeSec, token?.exp ?? Number.POSITIVE_INFINITY)
  const jwt = signJwt(keys.current(options.accessToken.alg), 'sidegate-assertion+jwt', {
    iss: options.issuer,
    aud: resource,
    sub: token?.sub ?? proof.client_id,
    client_id: proof.client_id,
    ...(token && token.scope !== '' && { scope: token.scope }),
    grouping,
    iat,
    exp,
    jti: randomText(16),
  })
  return { jwt, renewAtMs: clock.monotonicMs() + (exp * 1000 - nowMs) / 2 }
}
