import type { Confirmation } from './confirmation.ts'
import type { GrantRecord } from './grant-record.ts'
import type { AccessTokenRecord } from './tokens.ts'

/**
 * The access token that a redemption or a refresh issues. If it asks for more than was granted, the outcome is
 * `exceeds`.
 */
export interface TokenToStore {
  readonly draft: TokenDraft
  /**
   * The token is stored in the same step as the grant, under this keyed digest and until its `exp`, so that
   * `TokenStore` finds it. Its record is the result of `completeToken`. Left out: it is not stored, because it is a
   * JWT.
   */
  readonly digest?: string
}

/** An access token as far as it is known before its grant is read. */
export interface TokenDraft {
  readonly jti: string
  readonly client_id: string
  readonly iat: number
  readonly exp: number
  readonly cnf?: Confirmation
  /** Requested scopes, of the granted ones. Left out: all granted ones. */
  readonly scopes?: readonly string[]
  /** Requested resources (without spaces, as URIs are). Empty: all granted ones. */
  readonly resources: readonly string[]
  /** The audience if neither the request nor the grant names a resource. */
  readonly issuer: string
}

/** The members of a grant that an access token shows. */
export type Agreed = Pick<GrantRecord, 'sub' | 'username' | 'scope' | 'resource' | 'acr'> &
  Partial<Pick<GrantRecord, 'authTimeSec'>> & {
    /**
     * When the grant and every token issued from it expires. Left out: the grant is not stored, so it does not expire.
     */
    readonly untilMs?: number
  }

/** The token that a draft becomes. Store and caller both use this function, so that they never differ. */
export const completeToken = (draft: TokenDraft, agreed: Agreed): AccessTokenRecord => {
  const { jti, client_id, iat, cnf, scopes } = draft
  const { sub, username, scope, acr, authTimeSec, untilMs = Number.POSITIVE_INFINITY } = agreed
  return {
    jti,
    client_id,
    sub,
    ...(username !== undefined && { username }),
    scope: scopes
      ? scope
          .split(' ')
          .filter(name => scopes.includes(name))
          .join(' ')
      : scope,
    aud: audienceOf(draft, agreed),
    iat,
    exp: Math.min(draft.exp, Math.floor(untilMs / 1000)),
    ...(cnf && { cnf }),
    ...(acr !== undefined && { acr }),
    ...(authTimeSec !== undefined && { auth_time: authTimeSec }),
  }
}

/** RFC 8707 section 2: one resource is a text, several are a list. */
const audienceOf = ({ resources, issuer }: TokenDraft, { resource }: Agreed): string | readonly string[] => {
  const audience = resources.length > 0 ? [...new Set(resources)] : resource
  return audience.length > 1 ? audience : (audience[0] ?? issuer)
}
