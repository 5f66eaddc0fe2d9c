import { OAuthError } from '../../errors.ts'
import type { GrantRecord } from '../../stores/ports.ts'
import type { OAuthDeps } from '../deps.ts'
import type { ClientRegistration } from '../options.ts'
import { requireSubset, splitScope } from '../scope.ts'
import { parseGrantId } from '../tokens/code.ts'
import { type Grant, type GrantRequest, newFamilyJti } from './grant.ts'
import { createRefreshLineage, type RefreshLineage } from './refresh-lineage.ts'

/**
 * RFC 6749 section 6. A public client's token is replaced at every use, so that a stolen one is noticed (RFC 9700
 * section 4.14.2); a client that proves itself keeps its token.
 */
export const createRefreshTokenGrant = (deps: OAuthDeps): Grant => {
  const lineage = createRefreshLineage(deps.keys)
  const usernames = new Set(deps.options.users.map(user => user.username))
  return {
    type: 'refresh_token',
    servesPublicClients: true,
    takesScope: true,
    redeem: async request => {
      const attempt = readAttempt(request, lineage)
      await refuseWiderScope(deps, attempt)
      const record = await useToken(deps, lineage, attempt)
      // Whom the operator has taken out of the configuration has agreed to nothing any more.
      if (record.username !== undefined && !usernames.has(record.username)) throw refusal()
      const { grantId, client, successor } = attempt
      return {
        grantId,
        jti: newFamilyJti(grantId),
        sub: record.sub,
        ...(record.username !== undefined && { username: record.username }),
        scope: grantedScope(record, attempt),
        resource: record.resource,
        ...(isRotating(client) && { refreshToken: successor }),
      }
    },
  }
}

interface Attempt {
  readonly grantId: string
  readonly presented: string
  readonly successor: string
  readonly client: ClientRegistration
  readonly scope: readonly string[] | undefined
}

const readAttempt = ({ form, client, scope }: GrantRequest, lineage: RefreshLineage): Attempt => {
  const presented = form.get('refresh_token')
  if (presented === undefined) throw new OAuthError('invalid_request', 'The refresh_token is missing')
  const grantId = parseGrantId(presented)
  if (grantId === undefined) throw refusal()
  return { grantId, presented, successor: lineage.successorOf(presented), client, scope }
}

const isRotating = (client: ClientRegistration): boolean => client.token_endpoint_auth_method === 'none'

/**
 * Looks before it leaps: a request that asks for too much must not spend the token it presents. Only a current token
 * can be spent, and only that is found here; for every other the scope is checked once the store has spoken.
 */
const refuseWiderScope = async ({ store, keys }: OAuthDeps, attempt: Attempt): Promise<void> => {
  if (attempt.scope === undefined || !isRotating(attempt.client)) return
  const found = await store.grants.findByRefresh(attempt.grantId, keys.digest(attempt.presented))
  if (found?.record.client_id === attempt.client.client_id) grantedScope(found.record, attempt)
}

/** @throws OAuthError invalid_scope where more is asked for than was agreed to */
const grantedScope = (record: GrantRecord, { scope, client }: Attempt): readonly string[] => {
  const agreed = splitScope(record.scope)
  // A scope that the operator has withdrawn from the client since is not given again.
  if (scope === undefined) return agreed.filter(name => client.scope.includes(name))
  requireSubset(scope, agreed, 'More scope is asked for than was agreed to')
  return scope
}

const useToken = async (deps: OAuthDeps, lineage: RefreshLineage, attempt: Attempt): Promise<GrantRecord> => {
  const { store, keys, clock, options } = deps
  const nowMs = clock.nowMs()
  const untilMs = nowMs + options.refreshToken.lifetimeSec * 1000
  const outcome = await store.grants.refresh({
    grantId: attempt.grantId,
    client_id: attempt.client.client_id,
    digest: keys.digest(attempt.presented),
    ...(isRotating(attempt.client) && { successorDigest: keys.digest(attempt.successor) }),
    nowMs,
    reuseWindowMs: options.refreshToken.reuseWindowSec * 1000,
    untilMs,
  })
  if (outcome.kind === 'valid') return outcome.record
  if (
    outcome.kind === 'superseded' &&
    lineage.isAncestor(attempt.presented, outcome.currentDigest, outcome.generation)
  ) {
    // Two parties hold this lineage and nobody can tell which is the thief: it ends (RFC 9700 section 4.14.2).
    await store.revocations.revoke(attempt.grantId, untilMs)
  }
  throw refusal()
}

const refusal = (): OAuthError =>
  new OAuthError('invalid_grant', 'The refresh token is unknown, expired, revoked, or not for this client')
