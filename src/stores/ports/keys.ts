export interface KeyStore {
  /**
   * All keys, oldest first. Reading renews their lifetime to `untilMs`, so keys in use stay and unused ones go.
   * @throws Error one line for a person, where a copy into this store has not ended; `create` too
   */
  load(untilMs: number): Promise<readonly KeyRecord[]>
  /**
   * Stores `record` unless the newest key of its `alg` is another than `after` (undefined: unless there is any),
   * atomically: of many processes that rotate at once one wins. Returns all keys as they are afterwards, oldest first.
   */
  create(record: KeyRecord, after: string | undefined, untilMs: number): Promise<readonly KeyRecord[]>
  /** Forgets a key. Absent: nothing happens. */
  remove(kid: string): Promise<void>
}

/**
 * A key as JWK members (RFC 7517): a private signing key, or the symmetric digest key (`alg` HS256). The instants say
 * how it takes part in a rotation; a key without them is used from the moment it was made.
 */
export interface KeyRecord {
  readonly kid: string
  readonly alg: string
  readonly createdAtMs: number
  /** Signs from this instant on; published before, so that every cache of the key set has it by then. */
  readonly activeAtMs?: number
  readonly jwk: Readonly<Record<string, unknown>>
}

/** Sorts keys oldest first. Keys of the same millisecond are ordered by `kid`, so that all processes agree on the newest. */
export const byAge = (a: KeyRecord, b: KeyRecord): number => a.createdAtMs - b.createdAtMs || (a.kid < b.kid ? -1 : 1)
