import type { Clock } from '../../clock.ts'
import { randomText } from '../../random-text.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { OAuthOptions } from '../options.ts'
import { signJwt } from './jwt.ts'

/** What has proven who is calling: an access token that was verified, or a client that has shown its secret. */
export type Proof = AccessTokenRecord | ClientRegistration

/**
 * Who is calling, signed for a service behind the gateway.
 * @param resource of the grouping: for whom it is
 * @throws StoreUnavailableError while there are no keys
 */
export type SignIdentity = (proof: Proof, grouping: string, resource: string) => string

/** How long the service may take it for good. */
const lifetimeSec = 60

interface Assertion {
  readonly jwt: string
  /** By the monotonic clock. From then on a new one is made, so that each has half its life before it when it is sent. */
  readonly renewAtMs: number
}

export interface IdentityAssertionDeps {
  readonly options: Pick<OAuthOptions, 'issuer' | 'accessToken'>
  readonly keys: Pick<KeyRing, 'current'>
  readonly clock: Clock
}

/**
 * Assertions of a type of their own: none passes for an access token, and no access token for one (RFC 8725 section 3.11).
 * A signature costs as much as the rest of a request, so one serves all that come with the same token. It is remembered as
 * long as the token is: a token is the same object until then.
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

/** It ends with the token that it speaks of, where that is sooner. */
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
