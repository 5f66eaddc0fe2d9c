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
  /** What the refresh token is bound to; left out: to nothing. */
  readonly binding?: string
  /** The refresh token before the current one. */
  readonly previousDigest?: string
  /** When the current refresh token was made: at the redemption, then at each rotation. */
  readonly refreshedAtMs: number
  readonly generation: number
  /**
   * The longest lifetime of an access token that was issued from it, in seconds: a reload may have shortened it since. Left
   * out: none was issued, or an older version kept the grant.
   */
  readonly longestTokenSec?: number
  readonly untilMs: number
}
