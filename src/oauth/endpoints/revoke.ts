import { OAuthError } from '../../errors.ts'
import { clockSpreadMs } from '../../stores/ports/clock-spread.ts'
import type { FoundToken } from '../../stores/ports/tokens.ts'
import { type ClientRegistration, isConfidential } from '../clients/metadata.ts'
import type { OAuthDeps } from '../deps.ts'
import { parseGrantId } from '../opaque-token.ts'
import type { RevokedToken } from '../protocol.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import { hasJwtShape } from '../tokens/jwt.ts'
import { revokeGrant } from '../tokens/revoke-grant.ts'
import { createRotationFamily } from '../tokens/rotation-family.ts'
import type { Endpoint } from './endpoint.ts'

/** A token that is valid now, or was until it was replaced: its client, and how to revoke it. */
interface Revocable {
  readonly client_id: string
  readonly fact: RevokedToken
  revoke(): Promise<void>
}

/**
 * Token revocation (RFC 7009 section 2), for public clients too.
 *
 * The revocation of an access token ends that token alone. The revocation of a refresh token also ends all access
 * tokens of its grant. A 200 means that the store has recorded the revocation. If the store does not answer, the
 * response is 503 (RFC 7009 section 2.2.1).
 */
export const createRevocationEndpoint = (deps: OAuthDeps, accessTokens: AccessTokens): Endpoint => {
  const { store, keys, revocations } = deps
  const rotationFamily = createRotationFamily(keys)

  const findJwt = async (token: string): Promise<Revocable | undefined> => {
    const record = await accessTokens.readJwt(token)
    return (
      record && {
        client_id: record.client_id,
        fact: { reason: 'access_token', sub: record.sub, jti: record.jti },
        revoke: () => revocations.revoke(record.jti, record.exp * 1000 + clockSpreadMs),
      }
    )
  }
  const findStored = async (grantId: string, digest: string): Promise<Revocable | undefined> => {
    const found = await store.tokens.findAny(grantId, digest)
    if (!found) return undefined
    const revoke = async (): Promise<void> => {
      if (found.kind === 'refresh') return revokeGrant(deps, grantId)
      await store.tokens.remove(grantId, digest)
      revocations.tokenRemoved(found.record)
    }
    return { client_id: found.record.client_id, fact: factOf(found), revoke }
  }
  /** A client may have missed the response that replaced its refresh token. It means to end the grant. */
  const findReplaced = async (
    grantId: string,
    token: string,
    client: ClientRegistration,
  ): Promise<Revocable | undefined> => {
    if (isConfidential(client)) return undefined // only a public client's tokens are replaced
    const { client_id } = client
    const current = await store.grants.findCurrentRefresh(grantId, client_id)
    const isOne = current && rotationFamily.isAncestor(token, current.currentDigest, current.generation)
    return isOne
      ? { client_id, fact: { reason: 'refresh_token' }, revoke: () => revokeGrant(deps, grantId) }
      : undefined
  }
  const find = async (token: string, client: ClientRegistration): Promise<Revocable | undefined> => {
    if (hasJwtShape(token)) return findJwt(token)
    const grantId = parseGrantId(token)
    if (grantId === undefined) return undefined
    return (await findStored(grantId, keys.digest(token))) ?? findReplaced(grantId, token, client)
  }

  return async (form, client, query) => {
    const { client_id } = client
    const token = form.get('token')
    if (token === undefined) throw new OAuthError('invalid_request', 'The token is missing')
    const found = await query(() => find(token, client))
    if (found && found.client_id !== client_id) {
      throw new OAuthError('invalid_grant', 'The token was not issued to this client')
    }
    await found?.revoke()
    const facts = { client_id, ...(found && { revoked: found.fact }) }
    return { status: 200, headers: { 'cache-control': 'no-store' }, body: undefined, facts }
  }
}

const factOf = (found: FoundToken): RevokedToken =>
  found.kind === 'access'
    ? { reason: 'access_token', sub: found.record.sub, jti: found.record.jti }
    : { reason: 'refresh_token', sub: found.record.sub }
