import { OAuthError } from '../../errors.ts'
import type { AccessTokenRecord, FoundToken } from '../../stores/ports/tokens.ts'
import { unauthenticated } from '../clients/client-auth-errors.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { OAuthDeps } from '../deps.ts'
import { type MaybePromise, mapMaybe } from '../functional.ts'
import { parseGrantId } from '../opaque-token.ts'
import type { OAuthReply } from '../protocol.ts'
import { type AccessTokens, tokenTypeOf } from '../tokens/access-token.ts'
import { introspectionJwtType, signIntrospectionJwt, wantsIntrospectionJwt } from '../tokens/introspection-jwt.ts'
import type { Endpoint } from './endpoint.ts'

/** The members of an active response. */
type TokenMembers = Readonly<Record<string, unknown>>

/**
 * Token introspection (RFC 7662 section 2).
 *
 * Each request costs one round trip to the store: to find out whether a JWT is revoked, or to look up any other
 * token, whatever its type. A client that may not introspect a token gets the same response as for a token that does
 * not exist.
 */
export const createIntrospectionEndpoint = (deps: OAuthDeps, accessTokens: AccessTokens): Endpoint => {
  const { options, store, keys, clients, revocations } = deps

  /** The tokens of a client that the operator has removed from the configuration are inactive, as at the gateway. */
  const mayRead = (client: ClientRegistration, record: AccessTokenRecord): boolean =>
    clients.find(record.client_id) !== undefined && mayIntrospect(client, record)

  const findJwt = (token: string, client: ClientRegistration): MaybePromise<TokenMembers | undefined> =>
    mapMaybe(accessTokens.readJwt(token), record => {
      if (!record || !mayRead(client, record)) return undefined
      const queried = revocations.queryWithNotBefore(() => store.revocations.isRevoked(record.jti))
      return queried.then(isRevoked =>
        isRevoked || revocations.isRevoked(record) ? undefined : toAccessMembers(record, options.issuer),
      )
    })
  const findStored = (
    grantId: string,
    token: string,
    client: ClientRegistration,
  ): Promise<TokenMembers | undefined> => {
    const queried = revocations.queryWithNotBefore(() => store.tokens.findAny(grantId, keys.digest(token)))
    return queried.then(found => found && membersOf(found, client))
  }
  const membersOf = (found: FoundToken, client: ClientRegistration): TokenMembers | undefined => {
    if (found.kind === 'access') {
      return mayRead(client, found.record) && !revocations.isRevoked(found.record)
        ? toAccessMembers(found.record, options.issuer)
        : undefined
    }
    // RFC 7662 section 4: only its own client may introspect a refresh token, whatever tokens another may introspect.
    if (found.record.client_id !== client.client_id || revocations.isCutOff(found.record)) return undefined
    const { record, createdAtMs, untilMs } = found
    return toRefreshMembers({ ...record, iat: toSec(createdAtMs), exp: toSec(untilMs) }, options.issuer)
  }

  return (form, client, query, { accept }) => {
    if (client.token_endpoint_auth_method === 'none') throw unauthenticated()
    const token = form.get('token')
    if (token === undefined) throw new OAuthError('invalid_request', 'The token is missing')
    // No token has both forms, so the cheaper test decides: a JWT whose verification is cached is not matched whole.
    const grantId = parseGrantId(token)
    const facts = query(() => (grantId === undefined ? findJwt(token, client) : findStored(grantId, token, client)))
    return mapMaybe(facts, found => {
      const reply = toReply(client, found)
      return wantsIntrospectionJwt(accept) ? sign(deps, client, reply) : reply
    })
  }
}

type JsonReply = OAuthReply & { readonly body: TokenMembers }

const toReply = ({ client_id }: ClientRegistration, found: TokenMembers | undefined): JsonReply => ({
  status: 200,
  headers: noStore,
  body: found ?? { active: false },
  facts: { client_id, introspection: found ? 'active' : 'inactive' },
})

const noStore = { 'cache-control': 'no-store' }

const sign = (deps: OAuthDeps, client: ClientRegistration, reply: JsonReply): OAuthReply => ({
  ...reply,
  headers: { ...noStore, 'content-type': introspectionJwtType },
  body: signIntrospectionJwt(deps, client, reply.body),
})

const mayIntrospect = ({ client_id, introspects }: ClientRegistration, record: AccessTokenRecord): boolean => {
  if (introspects === 'all') return true
  if (introspects === 'own') return record.client_id === client_id
  return [record.aud].flat().some(resource => introspects.includes(resource))
}

const toAccessMembers = (record: AccessTokenRecord, iss: string): TokenMembers => ({
  active: true,
  iss,
  client_id: record.client_id,
  sub: record.sub,
  ...(record.username !== undefined && { username: record.username }),
  ...(record.scope !== '' && { scope: record.scope }),
  aud: record.aud,
  token_type: tokenTypeOf(record),
  iat: record.iat,
  nbf: record.iat,
  exp: record.exp,
  jti: record.jti,
  ...(record.cnf && { cnf: record.cnf }),
  ...(record.acr !== undefined && { acr: record.acr }),
  ...(record.auth_time !== undefined && { auth_time: record.auth_time }),
})

type RefreshRecord = Pick<AccessTokenRecord, 'client_id' | 'sub' | 'username' | 'scope' | 'iat' | 'exp'>

/** The audience of a refresh token is the authorization server itself. It has no token type of RFC 6749 section 7.1. */
const toRefreshMembers = ({ client_id, sub, username, scope, iat, exp }: RefreshRecord, iss: string): TokenMembers => ({
  active: true,
  iss,
  client_id,
  sub,
  ...(username !== undefined && { username }),
  ...(scope !== '' && { scope }),
  aud: iss,
  iat,
  exp,
})

const toSec = (atMs: number): number => Math.floor(atMs / 1000)
