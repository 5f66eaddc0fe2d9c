import { OAuthError, type Reuse } from '../../errors.ts'
import type { Redemption, RedemptionOutcome } from '../../stores/ports/grants.ts'
import type { Agreed } from '../../stores/ports/token-draft.ts'
import { type ClientRegistration, isConfidential } from '../clients/metadata.ts'
import type { Form } from '../forms/form.ts'
import { challengeOf, codeProof, newGrantSecret, parseGrantId } from '../opaque-token.ts'
import { notAgreed } from '../resource.ts'
import { confirmationText } from '../sender-constraint/confirmation.ts'
import { revokeGrant } from '../tokens/revoke-grant.ts'
import type { NewToken } from './grant.ts'
import { type Grant, newFamilyJti, type RedemptionDeps } from './grant.ts'
import { createRemovedUserCheck } from './removed-users.ts'
import type { SenderConstraint } from './sender-constraint.ts'

/** RFC 6749 section 4.1.3 with PKCE (RFC 7636 section 4.5). */
export const createAuthorizationCodeGrant = (deps: RedemptionDeps): Grant => {
  const isRemoved = createRemovedUserCheck(deps)
  return {
    type: 'authorization_code',
    servesPublicClients: true,
    takesScope: false,
    redeem: async ({ form, client, senderConstraint, beginToken, query }) => {
      const code = form.get('code')
      if (code === undefined) throw new OAuthError('invalid_request', 'The code is missing')
      const grantId = parseGrantId(code)
      if (grantId === undefined) throw refusal()
      const refreshToken = client.grant_types.includes('refresh_token') ? newGrantSecret(grantId) : undefined
      // The operator may have withdrawn a scope after the sign-in began.
      const token = beginToken(grantId, newFamilyJti(grantId), client.scope)
      const attempt = { grantId, code, form, client, senderConstraint, token, refreshToken }
      const outcome = await query(() => deps.revocations.queryWithNotBefore(() => redeemOnce(deps, attempt)))
      const agreed = await requireFirstUse(deps, grantId, outcome)
      if (isRemoved(agreed)) throw refusal() // the store may already hold an opaque token, but no client receives it
      return { token, agreed, ...(refreshToken !== undefined && { refreshToken }) }
    },
  }
}

interface Attempt {
  readonly grantId: string
  readonly code: string
  readonly form: Form
  readonly client: ClientRegistration
  readonly senderConstraint: SenderConstraint
  readonly token: NewToken
  readonly refreshToken: string | undefined
}

const redeemOnce = (
  { store, keys, clock, options }: RedemptionDeps,
  { grantId, code, form, client, senderConstraint, token, refreshToken }: Attempt,
): Promise<RedemptionOutcome> => {
  const nowMs = clock.nowMs()
  const lifetimeSec = refreshToken ? options.refreshToken.lifetimeSec : options.accessToken.lifetimeSec
  return store.grants.redeem({
    grantId,
    codeDigest: keys.digest(code),
    codeProofs: proofsOf(form, client, senderConstraint),
    nowMs,
    ...(refreshToken && { refreshDigest: keys.digest(refreshToken), ...bindingOf(client, senderConstraint) }),
    untilMs: nowMs + lifetimeSec * 1000,
    token,
  })
}

/**
 * A confidential client is bound by its authentication at every use. A public client's refresh token is bound to its
 * key or its certificate (RFC 9449 section 5, RFC 8705 section 4).
 */
const bindingOf = (client: ClientRegistration, { confirmation }: SenderConstraint): Pick<Redemption, 'binding'> =>
  confirmation && !isConfidential(client) ? { binding: confirmationText(confirmation) } : {}

/**
 * The `codeProof` values of the codes that this request may redeem. An empty list still counts as a failed
 * redemption.
 */
const proofsOf = (form: Form, client: ClientRegistration, { jkt }: SenderConstraint): readonly string[] => {
  const verifier = form.get('code_verifier')
  if (verifier !== undefined && !verifierSyntax.test(verifier)) return []
  const challenge = verifier === undefined ? '' : challengeOf(verifier)
  // A request may carry a DPoP proof although the code is bound to no key.
  const keys = jkt === undefined ? [''] : ['', jkt]
  return redirectUrisOf(form, client).flatMap(uri => keys.map(key => codeProof(client.client_id, uri, challenge, key)))
}

/** RFC 7636 section 4.1. */
const verifierSyntax = /^[A-Za-z0-9._~-]{43,128}$/

/**
 * The redirect URIs that the authorization request may have sent; `''` stands for none. If the client has only one
 * registered URI and sent none there, the token request may still name that one.
 */
const redirectUrisOf = (form: Form, { redirect_uris }: ClientRegistration): readonly string[] => {
  const presented = form.get('redirect_uri')
  if (presented === undefined) return ['']
  const isImplied = redirect_uris.length === 1 && redirect_uris[0] === presented
  return isImplied ? [presented, ''] : [presented]
}

const requireFirstUse = async (deps: RedemptionDeps, grantId: string, outcome: RedemptionOutcome): Promise<Agreed> => {
  if (outcome.kind === 'redeemed') {
    if (deps.revocations.isCutOff(outcome.record)) throw refusal() // no client receives the opaque token that the store may hold by now
    return { ...outcome.record, untilMs: outcome.untilMs }
  }
  if (outcome.kind === 'exceeds') throw notAgreed()
  if (outcome.kind === 'replayed') {
    // A code that is used twice has leaked: the tokens of the first use are revoked (RFC 6749 section 4.1.2).
    await revokeGrant(deps, grantId)
    throw refusal({ of: 'code', sub: outcome.record.sub })
  }
  throw refusal()
}

/** One text for every refused code, so that an attacker does not learn which part was wrong (RFC 6749 section 10.5). */
const refusal = (reuse?: Reuse): OAuthError =>
  new OAuthError('invalid_grant', 'The code is unknown, expired, used, or does not belong to this request', {
    ...(reuse && { reuse }),
  })
