import type { Confirmation } from './confirmation.ts'
import type { GrantRecord } from './grant-record.ts'

/** Opaque access tokens, by the keyed digest of the token. */
export interface TokenStore {
  /** Stores a token whose grant is not stored. */
  save(grantId: string, digest: string, record: AccessTokenRecord, untilMs: number): Promise<void>
  /** The record, unless it expired, was removed, or its grant is revoked. */
  find(grantId: string, digest: string): Promise<AccessTokenRecord | undefined>
  /** The access token or the current refresh token with this digest, in one round trip; same conditions as `find`. */
  findAny(grantId: string, digest: string): Promise<FoundToken | undefined>
  /** After it resolves no process finds the token. Does nothing if it does not exist. */
  remove(grantId: string, digest: string): Promise<void>
}

/** An access token as introspection shows it; a JWT contains the same members. */
export interface AccessTokenRecord {
  readonly jti: string
  readonly client_id: string
  readonly sub: string
  readonly username?: string
  readonly scope: string
  readonly aud: string | readonly string[]
  readonly iat: number
  readonly exp: number
  readonly cnf?: Confirmation
  readonly acr?: string
  readonly auth_time?: number
}

/** The token that a keyed digest refers to: an opaque access token, or the current refresh token of a grant. */
export type FoundToken =
  | { readonly kind: 'access'; readonly record: AccessTokenRecord }
  | {
      readonly kind: 'refresh'
      readonly record: GrantRecord
      readonly binding?: string
      readonly createdAtMs: number
      readonly untilMs: number
    }
