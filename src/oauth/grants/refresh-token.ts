import { OAuthError, type Reuse } from '../../errors.ts'
import type { RefreshOutcome } from '../../stores/ports/grants.ts'
import type { Agreed } from '../../stores/ports/token-draft.ts'
import { type ClientRegistration, isConfidential } from '../clients/metadata.ts'
import { parseGrantId } from '../opaque-token.ts'
import type { OAuthOptions } from '../options.ts'
import { notAgreed } from '../resource.ts'
import { revokeGrant } from '../tokens/revoke-grant.ts'
import { createRotationFamily, type RotationFamily } from '../tokens/rotation-family.ts'
import type { NewToken } from './grant.ts'
import { type Grant, type GrantRequest, newFamilyJti, type RedemptionDeps } from './grant.ts'
import { createRemovedUserCheck } from './removed-users.ts'
import { isSenderConstrained, type SenderConstraint } from './sender-constraint.ts'

/**
 * RFC 6749 section 6. A public client's refresh token is replaced at every use, so that the use of a stolen one is
 * noticed (RFC 9700 section 4.14.2). A client that authenticates, or whose tokens are always sender-constrained,
 * keeps its refresh token.
 */
export const createRefreshTokenGrant = (deps: RedemptionDeps): Grant => {
  const family = createRotationFamily(deps.keys)
  const isRemoved = createRemovedUserCheck(deps)
  return {
    type: 'refresh_token',
    servesPublicClients: true,
    takesScope: true,
    redeem: async request => {
      const attempt = readAttempt(request, family)
      const outcome = await request.query(() => deps.revocations.queryWithNotBefore(() => refreshOnce(deps, attempt)))
      const agreed = await requireValid(deps, family, attempt, outcome)
      if (isRemoved(agreed)) throw refusal() // the store may already hold an opaque token, but no client receives it
      const { client, token, successor } = attempt
      return { token, agreed, ...(isRotating(client, deps.options) && { refreshToken: successor }) }
    },
  }
}

interface Attempt {
  readonly grantId: string
  readonly presented: string
  readonly successor: string
  readonly client: ClientRegistration
  readonly scope: readonly string[] | undefined
  readonly senderConstraint: SenderConstraint
  readonly token: NewToken
}

const readAttempt = (request: GrantRequest, family: RotationFamily): Attempt => {
  const { form, client, scope, senderConstraint, beginToken } = request
  const presented = form.get('refresh_token')
  if (presented === undefined) throw new OAuthError('invalid_request', 'The refresh_token is missing')
  const grantId = parseGrantId(presented)
  if (grantId === undefined) throw refusal()
  // A scope that the operator has withdrawn since is not granted again.
  const token = beginToken(grantId, newFamilyJti(grantId), scope ?? client.scope)
  return {
    grantId,
    presented,
    successor: family.successorOf(presented),
    client,
    scope,
    senderConstraint,
    token,
  }
}

/**
 * This depends on the registration, not on what this request proves: otherwise a thief could stop the rotation of an
 * unbound token by adding a key of its own.
 */
const isRotating = (client: ClientRegistration, options: Pick<OAuthOptions, 'profile'>): boolean =>
  !isConfidential(client) && !isSenderConstrained(client, options)

const refreshOnce = ({ store, keys, clock, options }: RedemptionDeps, attempt: Attempt): Promise<RefreshOutcome> => {
  const nowMs = clock.nowMs()
  return store.grants.refresh({
    grantId: attempt.grantId,
    client_id: attempt.client.client_id,
    digest: keys.digest(attempt.presented),
    ...(isRotating(attempt.client, options) && { successorDigest: keys.digest(attempt.successor) }),
    bindings: attempt.senderConstraint.bindings,
    ...(attempt.scope && { scopes: attempt.scope }),
    nowMs,
    reuseWindowMs: options.refreshToken.reuseWindowSec * 1000,
    untilMs: nowMs + options.refreshToken.lifetimeSec * 1000,
    token: attempt.token,
  })
}

const requireValid = async (
  deps: RedemptionDeps,
  family: RotationFamily,
  { grantId, presented }: Attempt,
  outcome: RefreshOutcome,
): Promise<Agreed> => {
  if (outcome.kind === 'valid') {
    if (deps.revocations.isCutOff(outcome.record)) throw refusal() // as for a removed user
    return { ...outcome.record, untilMs: outcome.untilMs }
  }
  if (outcome.kind === 'exceeds') throw outcome.by === 'scope' ? scopeNotAgreed() : notAgreed()
  if (outcome.kind === 'superseded' && family.isAncestor(presented, outcome.currentDigest, outcome.generation)) {
    // Two parties hold tokens of this family, and it is unknown which one is the thief, so the grant ends (RFC 9700
    // section 4.14.2).
    await revokeGrant(deps, grantId)
    throw refusal({ of: 'refresh_token' })
  }
  throw refusal()
}

const scopeNotAgreed = (): OAuthError =>
  new OAuthError('invalid_scope', 'More scopes are requested than were agreed to')

const refusal = (reuse?: Reuse): OAuthError =>
  new OAuthError('invalid_grant', 'The refresh token is unknown, expired, revoked, or not for this client and key', {
    ...(reuse && { reuse }),
  })
