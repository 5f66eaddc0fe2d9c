import type { GrantRecord } from './grant-record.ts'

/** A grant as a store keeps it. */
export interface GrantState {
  readonly record: GrantRecord
  readonly codeDigest: string
  readonly codeProof: string
  readonly codeExpiresAtMs: number
  readonly spent: boolean
  readonly failures: number
  readonly refreshDigest?: string
  /** The key that the refresh token is bound to. Left out: it is not bound. */
  readonly binding?: string
  /** The refresh token before the current one. */
  readonly previousDigest?: string
  /** When the current refresh token was made: at the redemption, then at each rotation. */
  readonly refreshedAtMs: number
  readonly generation: number
  /**
   * The longest lifetime, in seconds, of an access token that was issued from the grant; a reload may have shortened
   * the configured one since. Left out: none was issued, or an older version of Sidegate wrote the record.
   */
  readonly longestTokenSec?: number
  readonly untilMs: number
}
