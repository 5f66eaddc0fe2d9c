export interface KeyStore {
  /**
   * All keys, oldest first. Reading extends their lifetime to `untilMs`, so keys in use are kept and unused ones
   * expire.
   * @throws Error with one line for the operator, if a copy into this store did not finish; so does `create`
   */
  load(untilMs: number): Promise<readonly KeyRecord[]>
  /**
   * Stores `record` unless the newest key of its `alg` is not `after` (undefined: unless there is any), atomically: of
   * many processes that rotate at once one succeeds. Returns all keys as they are afterwards, oldest first.
   */
  create(record: KeyRecord, after: string | undefined, untilMs: number): Promise<readonly KeyRecord[]>
  /** Deletes a key. Does nothing if it does not exist. */
  remove(kid: string): Promise<void>
}

/**
 * A key as JWK members (RFC 7517): a private signing key, or the symmetric digest key (`alg` HS256). The times say when
 * a rotation begins to use it. A key without them is used as soon as it exists.
 */
export interface KeyRecord {
  readonly kid: string
  readonly alg: string
  readonly createdAtMs: number
  /** The key signs from this time on. It is published before, so that every cache of the key set has it by then. */
  readonly activeAtMs?: number
  readonly jwk: Readonly<Record<string, unknown>>
}

/** Sorts keys oldest first. Keys of one millisecond are ordered by `kid`, so that all processes agree on the newest. */
export const byAge = (a: KeyRecord, b: KeyRecord): number => a.createdAtMs - b.createdAtMs || (a.kid < b.kid ? -1 : 1)
