import type { Clock } from '../../clock.ts'
import type { OAuthOptions } from '../options.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import type { BeginToken, GrantRequest } from './grant.ts'

export interface TokenDraftDeps {
  readonly options: Pick<OAuthOptions, 'issuer' | 'accessToken'>
  readonly clock: Clock
}

export const createTokenBeginner =
  ({ options, clock }: TokenDraftDeps, accessTokens: AccessTokens) =>
  ({ form, client, senderConstraint }: Pick<GrantRequest, 'form' | 'client' | 'senderConstraint'>): BeginToken =>
  (grantId, jti, scopes) => {
    const iat = Math.floor(clock.nowMs() / 1000)
    const draft = {
      jti,
      client_id: client.client_id,
      iat,
      exp: iat + options.accessToken.lifetimeSec,
      ...(senderConstraint.confirmation && { cnf: senderConstraint.confirmation }),
      ...(scopes && { scopes }),
      resources: form.resources,
      issuer: options.issuer,
    }
    return { draft, ...accessTokens.begin(grantId) }
  }
