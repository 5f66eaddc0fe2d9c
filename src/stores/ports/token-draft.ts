import type { Confirmation } from './confirmation.ts'
import type { GrantRecord } from './grant-record.ts'
import type { AccessTokenRecord } from './tokens.ts'

/** The access token that a redemption or a refresh is made for. More than was agreed to is `exceeds`. */
export interface TokenToStore {
  readonly draft: TokenDraft
  /**
   * Keeps the token in the same step as the grant, under this keyed digest and until its `exp`, for `TokenStore` to find.
   * It says what `completeToken` says. Left out: it is not kept, for it speaks for itself.
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
  /** Scopes it may have, of those agreed to. Left out: all of these. */
  readonly scopes?: readonly string[]
  /** Resources that it is asked for (without spaces, as URIs are). Empty: for all that were agreed to. */
  readonly resources: readonly string[]
  /** What it is for where neither the request nor the grant names a resource. */
  readonly issuer: string
}

/** What was agreed to, as far as an access token shows it. */
export type Agreed = Pick<GrantRecord, 'sub' | 'username' | 'scope' | 'resource' | 'acr'> &
  Partial<Pick<GrantRecord, 'authTimeSec'>> & {
    /** When it ends, and every token made from it with it. Left out: it is not kept, so it has no end. */
    readonly untilMs?: number
  }

/** The token that a draft becomes. Store and caller say it by this one function, so that they never differ. */
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

/** RFC 8707 section 2: one resource stands as text, several as a list. */
const audienceOf = ({ resources, issuer }: TokenDraft, { resource }: Agreed): string | readonly string[] => {
  const audience = resources.length > 0 ? [...new Set(resources)] : resource
  return audience.length > 1 ? audience : (audience[0] ?? issuer)
}
