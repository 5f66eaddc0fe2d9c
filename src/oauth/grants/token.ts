import { OAuthError } from '../../errors.ts'
import type { AccessTokenRecord } from '../../stores/ports.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Form } from '../forms/form.ts'
import type { ClientRegistration } from '../options.ts'
import { toAudience } from '../resource.ts'
import { joinScope, requestedScope } from '../scope.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import type { RevocationFeed } from '../tokens/revocation-feed.ts'
import { type MaybePromise, whenKnown } from '../when-known.ts'
import type { OAuthReply } from '../wire.ts'
import type { Grant, Granted } from './grant.ts'

/** The token endpoint (RFC 6749 section 3.2) for a client that has proven itself. */
export type TokenEndpoint = (form: Form, client: ClientRegistration) => MaybePromise<OAuthReply>

/** Everything that all grants share is checked here; a grant adds only what is its own. */
export const createTokenEndpoint = (
  deps: OAuthDeps,
  grants: readonly Grant[],
  accessTokens: AccessTokens,
  feed: RevocationFeed,
): TokenEndpoint => {
  const { options, clock } = deps

  const describe = (granted: Granted, client: ClientRegistration, form: Form): AccessTokenRecord => {
    const iat = Math.floor(clock.nowMs() / 1000)
    return {
      jti: granted.jti,
      client_id: client.client_id,
      sub: granted.sub,
      ...(granted.username !== undefined && { username: granted.username }),
      scope: joinScope(granted.scope),
      aud: toAudience(form.resources, granted.resource, options.issuer),
      iat,
      exp: iat + options.accessToken.lifetimeSec,
    }
  }

  return (form, client) => {
    const grant = chooseGrant(form, client, grants)
    const scope = askedScope(grant, form, client)
    toAudience(form.resources, [], options.issuer) // refuses a malformed resource before anything is spent
    requireStore(feed)
    return whenKnown(grant.redeem({ form, client, scope }), granted => {
      const record = describe(granted, client, form)
      return whenKnown(accessTokens.issue(granted.grantId, record), accessToken => ({
        status: 200,
        headers: noStore,
        body: toBody(accessToken, record, granted.refreshToken),
        facts: {
          client_id: client.client_id,
          issued: { grant_type: grant.type, format: options.accessToken.format },
        },
      }))
    })
  }
}

/** RFC 6749 section 5.1 asks for both. */
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

const askedScope = (grant: Grant, form: Form, client: ClientRegistration): readonly string[] | undefined => {
  const text = form.get('scope')
  return grant.takesScope && text !== undefined ? requestedScope(text, client) : undefined
}

/** A JWT could be signed without the store, but not be revoked: nothing is issued that cannot be taken back. */
const requireStore = (feed: RevocationFeed): void => {
  if (feed.failure !== undefined) throw feed.failure
}

/** RFC 6749 section 5.1. `scope` is always said, unless there is none to say. */
const toBody = (
  access_token: string,
  { scope, iat, exp }: AccessTokenRecord,
  refresh_token: string | undefined,
): Readonly<Record<string, unknown>> => ({
  access_token,
  token_type: 'Bearer',
  expires_in: exp - iat,
  ...(refresh_token !== undefined && { refresh_token }),
  ...(scope !== '' && { scope }),
})
