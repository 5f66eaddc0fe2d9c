import type { GrantRecord } from './grant-record.ts'
import type { GrantState } from './grant-state.ts'
import type { TokenToStore } from './token-draft.ts'

export interface GrantStore {
  create(grant: NewGrant): Promise<void>
  /** Redeems a code, atomically. See RedemptionOutcome. */
  redeem(redemption: Redemption): Promise<RedemptionOutcome>
  /** Uses a refresh token, atomically. See RefreshOutcome. Rotation counts `generation` up by one. */
  refresh(attempt: RefreshAttempt): Promise<RefreshOutcome>
  /**
   * Whatever the refresh token is bound to: who wants a grant ended need not hold its key. Undefined: no such grant of this
   * client, no refresh token, expired or revoked.
   */
  findCurrentRefresh(grantId: string, client_id: string): Promise<CurrentRefresh | undefined>
  /** Forgets a grant that nobody will ever redeem (the loser of a double submit). Absent: nothing happens. */
  remove(grantId: string): Promise<void>
  /** Keeps a grant as another store had it, in place of one of that id: a move changes nothing for its client. */
  adopt(grantId: string, state: GrantState): Promise<void>
}

export interface NewGrant {
  readonly grantId: string
  readonly record: GrantRecord
  /** Keyed digest of the authorization code. */
  readonly codeDigest: string
  /** Digest over client_id, redirect_uri, code_challenge and dpop_jkt: what a redemption must match. */
  readonly codeProof: string
  /** After this instant the code is `refused`. The grant itself is kept until `untilMs`, to detect late replays. */
  readonly codeExpiresAtMs: number
  readonly untilMs: number
}

export interface Redemption {
  readonly grantId: string
  readonly codeDigest: string
  /** The proofs that would be right, given what the caller presented; one of them must equal the stored one. */
  readonly codeProofs: readonly string[]
  readonly nowMs: number
  /** Set as the grant's refresh token, generation 0, if the redemption succeeds; left out: no refresh token. */
  readonly refreshDigest?: string
  /** What the refresh token is bound to from now on: text of a Confirmation. Left out: to nothing. */
  readonly binding?: string
  /** How long the grant is kept once redeemed: the life of the longest-lived token made from it. */
  readonly untilMs: number
  /** The access token that goes with it; left out: none. */
  readonly token?: TokenToStore
}

export type RedemptionOutcome =
  /** First use; the code is now spent. Of any number of callers exactly one sees this. */
  | { readonly kind: 'redeemed'; readonly record: GrantRecord; readonly untilMs: number }
  /** The right code, spent before: it leaked. The caller revokes the grant. */
  | { readonly kind: 'replayed'; readonly record: GrantRecord }
  | ScopeExceeded
  /** Unknown, expired, revoked or burnt code, or no proof matched (which is counted: the third failure burns it). */
  | { readonly kind: 'refused' }

/** More is asked for than was agreed to. Nothing changed: whoever asks for too much may ask again for less. */
export interface ScopeExceeded {
  readonly kind: 'exceeds'
  readonly by: 'scope' | 'resource'
}

export interface RefreshAttempt {
  readonly grantId: string
  readonly client_id: string
  /** Keyed digest of the presented refresh token. */
  readonly digest: string
  /** Present: rotate to this digest. Absent: the token is kept. */
  readonly successorDigest?: string
  /** What the caller proved to hold; a token bound to another is `refused`. A token bound to nothing takes any. */
  readonly bindings: readonly string[]
  /** Scopes that are asked for. Left out: all that was agreed to. More than the grant has is `exceeds`. */
  readonly scopes?: readonly string[]
  readonly nowMs: number
  /** How long after a rotation the previous token still yields the same successor. */
  readonly reuseWindowMs: number
  /** New lifetime of the grant if it rotates. */
  readonly untilMs: number
  /** The access token that goes with it; left out: none. */
  readonly token?: TokenToStore
}

export type RefreshOutcome =
  /** The current token; or, within the window, the one before it (then nothing changes: the successor is the same). */
  | { readonly kind: 'valid'; readonly record: GrantRecord; readonly untilMs: number }
  /**
   * Not the current one and outside the window. `generation` counts rotations, `currentDigest` names the current
   * token; with both the caller decides whether the presented one is a genuine ancestor, and then revokes.
   */
  | ({ readonly kind: 'superseded' } & CurrentRefresh)
  | ScopeExceeded
  /** No such grant for that client, no refresh token, expired, revoked or bound to another key. Nothing changed. */
  | { readonly kind: 'refused' }

/** Where the refresh tokens of a grant stand: how often they rotated, and the keyed digest of the current one. */
export interface CurrentRefresh {
  readonly generation: number
  readonly currentDigest: string
}
