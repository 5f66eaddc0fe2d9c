/**
 * What was issued to a client or for a person until an instant and is good no more: one record for any number of tokens,
 * which need not be found.
 */
export interface NotBeforeStore {
  /** When it resolves, `since` of every process shows it. One for the same owner does not replace it: the later one holds. */
  add(cutoff: NotBefore): Promise<void>
  /**
   * What was added since `cursor` (undefined: everything still alive) and the next cursor. An entry may be shown twice,
   * never missed. Asked with every code and refresh token: where there is nothing new it costs next to nothing.
   */
  since(cursor: string | undefined): Promise<{ readonly cutoffs: readonly NotBefore[]; readonly cursor: string }>
}

/** At least one of client and subject: what was issued to this client, for this subject, or for the subject at the client. */
export interface NotBefore {
  readonly client_id?: string
  readonly sub?: string
  /** The last second, since 1970, of which what was issued is good no more; tokens say when they were issued in seconds. */
  readonly throughSec: number
  /** When nothing is left of that. */
  readonly untilMs: number
}
