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
   * The current refresh token, whatever key it is bound to, because a client that ends a grant need not hold that key.
   * Undefined if this client has no such grant, or the grant has no refresh token, or it is expired or revoked.
   */
  findCurrentRefresh(grantId: string, client_id: string): Promise<CurrentRefresh | undefined>
  /**
   * Deletes a grant that will never be redeemed (the second one of a double submit). Does nothing if it does not exist.
   */
  remove(grantId: string): Promise<void>
  /**
   * Stores a grant as another store had it, and replaces one with that id: a migration changes nothing for the client.
   */
  adopt(grantId: string, state: GrantState): Promise<void>
}

export interface NewGrant {
  readonly grantId: string
  readonly record: GrantRecord
  /** Keyed digest of the authorization code. */
  readonly codeDigest: string
  /** Digest over client_id, redirect_uri, code_challenge and dpop_jkt: what a redemption must match. */
  readonly codeProof: string
  /**
   * After this time the code is `refused`. The grant itself is kept until `untilMs`, so that late replays are detected.
   */
  readonly codeExpiresAtMs: number
  readonly untilMs: number
}

export interface Redemption {
  readonly grantId: string
  readonly codeDigest: string
  /** The proofs that would be correct for what the caller presented; one of them must equal the stored one. */
  readonly codeProofs: readonly string[]
  readonly nowMs: number
  /** Set as the grant's refresh token, generation 0, if the redemption succeeds; left out: no refresh token. */
  readonly refreshDigest?: string
  /** The key that the refresh token is bound to from now on: text of a Confirmation. Left out: it is not bound. */
  readonly binding?: string
  /** How long the grant is kept after the redemption: until the last token issued from it has expired. */
  readonly untilMs: number
  /** The access token to store with it. Left out: none. */
  readonly token?: TokenToStore
}

export type RedemptionOutcome =
  /** First use; the code is now spent. Of any number of callers exactly one gets this outcome. */
  | { readonly kind: 'redeemed'; readonly record: GrantRecord; readonly untilMs: number }
  /** The code is correct and was spent before, so it leaked. The caller revokes the grant. */
  | { readonly kind: 'replayed'; readonly record: GrantRecord }
  | ScopeExceeded
  /**
   * The code is unknown, expired, revoked or invalidated, or no proof matched. A wrong proof is counted: the third one
   * invalidates the code.
   */
  | { readonly kind: 'refused' }

/** The request asks for more than was granted. Nothing has changed, so the client may ask again for less. */
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
  /**
   * The keys that the caller proved to hold. A token that is bound to another key is `refused`. A token that is not
   * bound is accepted with any.
   */
  readonly bindings: readonly string[]
  /** Requested scopes. Left out: all granted ones. More than the grant has leads to `exceeds`. */
  readonly scopes?: readonly string[]
  readonly nowMs: number
  /** How long after a rotation the previous token still yields the same successor. */
  readonly reuseWindowMs: number
  /** New lifetime of the grant if it rotates. */
  readonly untilMs: number
  /** The access token to store with it. Left out: none. */
  readonly token?: TokenToStore
}

export type RefreshOutcome =
  /**
   * The current token; or, within the reuse window, the previous one. In that case nothing changes, because the
   * successor is the same.
   */
  | { readonly kind: 'valid'; readonly record: GrantRecord; readonly untilMs: number }
  /**
   * A token that is not the current one, outside the reuse window. `generation` counts rotations and `currentDigest`
   * names the current token. With both the caller decides whether the presented token is a genuine ancestor; if so, it
   * revokes the grant.
   */
  | ({ readonly kind: 'superseded' } & CurrentRefresh)
  | ScopeExceeded
  /**
   * The client has no such grant, or the grant has no refresh token, is expired or revoked, or is bound to another key.
   * Nothing has changed.
   */
  | { readonly kind: 'refused' }

/** The state of a grant's refresh tokens: the number of rotations, and the keyed digest of the current token. */
export interface CurrentRefresh {
  readonly generation: number
  readonly currentDigest: string
}
