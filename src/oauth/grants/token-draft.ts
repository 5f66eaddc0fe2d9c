import type { TokenToStore } from '../../stores/ports/token-draft.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import type { OAuthDeps } from '../deps.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import type { GrantRequest } from './grant.ts'

/** The access token of one token request: what the store is to be told, and the text once all is known. */
export interface NewToken extends TokenToStore {
  toText(record: AccessTokenRecord): string
}

/**
 * Begins the access token of a request.
 * @param jti names this token among those of the grant
 * @param scopes those it may have, of what was agreed to; left out: all of it
 */
export type BeginToken = (grantId: string, jti: string, scopes?: readonly string[]) => NewToken

export const createTokenBeginner =
  ({ options, clock }: Pick<OAuthDeps, 'options' | 'clock'>, accessTokens: AccessTokens) =>
  ({ form, client, possession }: Pick<GrantRequest, 'form' | 'client' | 'possession'>): BeginToken =>
  (grantId, jti, scopes) => {
    const iat = Math.floor(clock.nowMs() / 1000)
    const draft = {
      jti,
      client_id: client.client_id,
      iat,
      exp: iat + options.accessToken.lifetimeSec,
      ...(possession.confirmation && { cnf: possession.confirmation }),
      ...(scopes && { scopes }),
      resources: form.resources,
      issuer: options.issuer,
    }
    return { draft, ...accessTokens.begin(grantId) }
  }
