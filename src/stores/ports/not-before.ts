/**
 * Records that everything issued up to a certain time to a client or for a user is no longer valid. One record covers
 * any number of tokens, which need not be found.
 */
export interface NotBeforeStore {
  /**
   * When it resolves, `since` of every process shows it. A record for the same client and subject does not replace an
   * earlier one: the later time applies.
   */
  add(cutoff: NotBefore): Promise<void>
  /**
   * The records added since `cursor` (undefined: all that have not expired) and the next cursor. An entry may be shown
   * twice, never missed. Called with every code and refresh token, so it is cheap if there is nothing new.
   */
  since(cursor: string | undefined): Promise<{ readonly cutoffs: readonly NotBefore[]; readonly cursor: string }>
}

/**
 * At least one of client and subject: what was issued to this client, for this subject, or for the subject at the
 * client.
 */
export interface NotBefore {
  readonly client_id?: string
  readonly sub?: string
  /**
   * Everything issued up to and including this second since 1970 is invalid. Tokens record their issue time in seconds.
   */
  readonly throughSec: number
  /** When everything that was issued by then has expired. */
  readonly untilMs: number
}
