import { OAuthError } from '../../errors.ts'
import type { AccessTokenRecord } from '../../stores/ports.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Form } from '../forms/form.ts'
import type { ClientRegistration } from '../options.ts'
import { toAudience } from '../resource.ts'
import { joinScope, requestedScope } from '../scope.ts'
import { type AccessTokens, tokenTypeOf } from '../tokens/access-token.ts'
import type { RevocationFeed } from '../tokens/revocation-feed.ts'
import { type MaybePromise, whenKnown } from '../when-known.ts'
import type { OAuthReply, OAuthRequest } from '../wire.ts'
import type { Grant, Granted, GrantRequest } from './grant.ts'
import type { PossessionCheck } from './possession.ts'

/** The token endpoint (RFC 6749 section 3.2) for a client that has proven itself. */
export type TokenEndpoint = (form: Form, client: ClientRegistration, request: OAuthRequest) => MaybePromise<OAuthReply>

/** Everything that all grants share is checked here; a grant adds only what is its own. */
export const createTokenEndpoint = (
  deps: OAuthDeps,
  grants: readonly Grant[],
  accessTokens: AccessTokens,
  feed: RevocationFeed,
  checkPossession: PossessionCheck,
): TokenEndpoint => {
  const { options, clock } = deps

  const describe = (granted: Granted, { client, form, possession }: GrantRequest): AccessTokenRecord => {
    const iat = Math.floor(clock.nowMs() / 1000)
    return {
      jti: granted.jti,
      client_id: client.client_id,
      sub: granted.sub,
      ...(granted.username !== undefined && { username: granted.username }),
      scope: joinScope(granted.scope),
      aud: toAudience(form.resources, granted.resource, options),
      iat,
      exp: iat + options.accessToken.lifetimeSec,
      ...(possession.confirmation && { cnf: possession.confirmation }),
      ...(granted.acr !== undefined && { acr: granted.acr }),
      ...(granted.authTimeSec !== undefined && { auth_time: granted.authTimeSec }),
    }
  }
  const issue = (grant: Grant, granted: Granted, request: GrantRequest): MaybePromise<OAuthReply> => {
    const record = describe(granted, request)
    return whenKnown(accessTokens.issue(granted.grantId, record), accessToken => ({
      status: 200,
      headers: { ...noStore, ...request.possession.headers },
      body: toBody(accessToken, record, granted.refreshToken),
      facts: {
        client_id: record.client_id,
        issued: { grant_type: grant.type, format: options.accessToken.format },
      },
    }))
  }

  return (form, client, request) => {
    const grant = chooseGrant(form, client, grants)
    const scope = askedScope(grant, form, client)
    toAudience(form.resources, [], options) // refuses an unknown resource before anything is spent
    requireStore(feed)
    return whenKnown(checkPossession(request, client), possession => {
      const grantRequest = { form, client, scope, possession }
      return whenKnown(grant.redeem(grantRequest), granted => issue(grant, granted, grantRequest))
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
  record: AccessTokenRecord,
  refresh_token: string | undefined,
): Readonly<Record<string, unknown>> => ({
  access_token,
  token_type: tokenTypeOf(record),
  expires_in: record.exp - record.iat,
  ...(refresh_token !== undefined && { refresh_token }),
  ...(record.scope !== '' && { scope: record.scope }),
})
