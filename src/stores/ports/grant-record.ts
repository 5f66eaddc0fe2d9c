/** The consent of a user or, for tokens without a user, of the client itself. */
export interface GrantRecord {
  readonly client_id: string
  readonly sub: string
  readonly username?: string
  /** Space-separated, as RFC 6749 section 3.3 writes it. */
  readonly scope: string
  /** RFC 8707 resources; empty means the issuer. */
  readonly resource: readonly string[]
  readonly authTimeSec: number
  /**
   * When the sign-in began that led to the grant; compared with not-before records. Left out: longer ago than any such
   * record.
   */
  readonly beganAtSec?: number
  /** The authentication context that the operator's own login reported (OpenID Connect Core section 2). */
  readonly acr?: string
}
