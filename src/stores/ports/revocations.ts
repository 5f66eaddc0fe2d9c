export interface RevocationStore {
  /**
   * Revokes a grant id (all its access tokens and its refresh token) or one jti. The grant itself is deleted in the
   * same step, so that nothing of it becomes valid again when the revocation record expires. When it resolves,
   * `isRevoked`, `tokens.find` and `grants.refresh` of every process reflect it, and `since` shows it to pollers. It
   * may be repeated.
   * @param untilMs a grant's revocation is kept for longer if one of its access tokens may live longer
   * @returns until when it is kept
   */
  revoke(id: string, untilMs: number): Promise<number>
  /** Whether the jti itself, or the grant id before its first dot, is revoked. */
  isRevoked(jti: string): Promise<boolean>
  /**
   * The feed for gateways that check JWTs locally: what was revoked since `cursor` (undefined: all records that have
   * not expired) and the next cursor. An entry may be shown twice, never missed.
   */
  since(cursor: string | undefined): Promise<{ readonly revocations: readonly Revocation[]; readonly cursor: string }>
}

/** One revocation in the feed: a grant id (the whole family) or a `jti` (`<grant id>.<n>`, one access token). */
export interface Revocation {
  readonly id: string
  readonly untilMs: number
}

/** The grant id that a revocation names: the whole text, or the part of a `jti` before its first dot. */
export const grantIdOf = (id: string): string => {
  const dot = id.indexOf('.')
  return dot < 0 ? id : id.slice(0, dot)
}
