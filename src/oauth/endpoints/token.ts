import { OAuthError } from '../../errors.ts'
import { completeToken } from '../../stores/ports/token-draft.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Form } from '../forms/form.ts'
import { mapMaybe } from '../functional.ts'
import type { Grant, Granted } from '../grants/grant.ts'
import { noHeaders, type SenderConstraint, type SenderConstraintCheck } from '../grants/sender-constraint.ts'
import { createTokenBeginner } from '../grants/token-draft.ts'
import type { OAuthReply } from '../protocol.ts'
import type { StoreQuery } from '../replay-protection.ts'
import { requireResources } from '../resource.ts'
import { requestedScope } from '../scope.ts'
import { type AccessTokens, tokenTypeOf } from '../tokens/access-token.ts'
import type { RevocationFeed } from '../tokens/revocation-feed.ts'
import type { Endpoint } from './endpoint.ts'

/**
 * The token endpoint (RFC 6749 section 3.2). It runs the checks that all grants share. Each grant adds only its own
 * checks.
 */
export const createTokenEndpoint = (
  deps: OAuthDeps,
  grants: readonly Grant[],
  accessTokens: AccessTokens,
  feed: RevocationFeed,
  checkSenderConstraint: SenderConstraintCheck,
): Endpoint => {
  const { options } = deps
  const tokenBeginner = createTokenBeginner(deps, accessTokens)

  const toReply = (
    grant: Grant,
    { token, agreed, refreshToken }: Granted,
    { headers }: SenderConstraint,
  ): OAuthReply => {
    const record = completeToken(token.draft, agreed)
    return {
      status: 200,
      headers: headers === noHeaders ? noStore : { ...noStore, ...headers },
      body: toBody(token.toText(record), record, refreshToken),
      facts: {
        client_id: record.client_id,
        issued: {
          grant_type: grant.type,
          format: options.accessToken.format,
          sub: record.sub,
          scope: record.scope,
          jti: record.jti,
        },
      },
    }
  }

  return (form, client, query, request) => {
    const grant = chooseGrant(form, client, grants)
    const scope = scopeOf(grant, form, client)
    requireResources(form.resources, options)
    requireStore(feed)
    const senderConstraint = checkSenderConstraint(request, client)
    const beginToken = tokenBeginner({ form, client, senderConstraint })
    const queryProven: StoreQuery = run => query(run, senderConstraint.pendingReplayChecks)
    const granted = grant.redeem({ form, client, scope, senderConstraint, beginToken, query: queryProven })
    return mapMaybe(granted, known => toReply(grant, known, senderConstraint))
  }
}

/** RFC 6749 section 5.1 requires both headers. */
const noStore = { 'cache-control': 'no-store', pragma: 'no-cache' }

const chooseGrant = (form: Form, client: ClientRegistration, grants: readonly Grant[]): Grant => {
  const type = form.get('grant_type')
  if (type === undefined) throw new OAuthError('invalid_request', 'The grant_type is missing')
  const grant = grants.find(known => known.type === type)
  if (!grant) throw new OAuthError('unsupported_grant_type', 'This grant_type is not supported')
  const isPublic = client.token_endpoint_auth_method === 'none'
  if (!client.grant_types.includes(grant.type) || (isPublic && !grant.servesPublicClients)) {
    throw new OAuthError('unauthorized_client', 'The client is not registered for this grant_type')
  }
  return grant
}

const scopeOf = (grant: Grant, form: Form, client: ClientRegistration): readonly string[] | undefined => {
  const text = form.get('scope')
  return grant.takesScope && text !== undefined ? requestedScope(text, client) : undefined
}

/** A JWT could be signed without the store, but not revoked, so no token is issued while the store is unavailable. */
const requireStore = (feed: RevocationFeed): void => {
  if (feed.failure !== undefined) throw feed.failure
}

/** RFC 6749 section 5.1. `scope` is always present, unless it is empty. */
const toBody = (
  access_token: string,
  record: AccessTokenRecord,
  refresh_token: string | undefined,
): Readonly<Record<string, unknown>> => ({
  access_token,
  token_type: tokenTypeOf(record),
  expires_in: record.exp - record.iat,
  // JSON.stringify leaves out undefined members. Leaving them out with a spread takes longer than writing all others.
  refresh_token,
  scope: record.scope === '' ? undefined : record.scope,
})
