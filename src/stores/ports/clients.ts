/**
 * Clients in the store, in addition to those of the configuration, and the ids of disabled clients, whether they are in
 * the store or in the configuration. Only an operator deletes a client, so these records have no lifetime. The record
 * that a client was deleted has one.
 */
export interface ClientStore {
  find(client_id: string): Promise<KnownClient | undefined>
  /**
   * Stores `record`, or deletes the client if it is undefined, atomically. Nothing is written if the stored version is
   * not `known` (undefined: if there is a record at all): of many writers one succeeds. Resolves to whether it was
   * written. After that, `find` and `since` show the change to every process. Deleting an unknown client succeeds,
   * because a process may still hold a client that the store has lost.
   */
  put(client_id: string, record: ClientRecord | undefined, known: string | undefined): Promise<boolean>
  /** Whether the store remembers that this client was deleted. */
  wasForgotten(client_id: string): Promise<boolean>
  /**
   * Hands over in parts what has changed since `cursor` (undefined: everything), and resolves to the next cursor. A
   * change may be shown twice. A reader that calls at least every `forgottenForMs` never misses one. Of several changes
   * of a client only the last is shown. If the store has lost the data that the cursor refers to, the reader gets
   * everything. A call without any change is cheap.
   */
  since(cursor: string | undefined, take: TakeChanges): Promise<string>
}

export interface ClientRecord {
  /**
   * The members as in the configuration, as JSON; the store does not parse them. Left out: the client is in the
   * configuration.
   */
  readonly members?: string
  /** Nothing of the client is valid, whether it is in the store or in the configuration. */
  readonly disabled: boolean
}

export interface KnownClient extends ClientRecord {
  /** Differs after each change, also if a deleted client is created again. */
  readonly version: string
}

/**
 * Takes a part of the changes. If `isWhole`, the parts together are all clients, possibly zero, and all other clients
 * are deleted. That is so at the first call and after the store has lost data.
 */
export type TakeChanges = (part: readonly ClientChange[], isWhole: boolean) => void

/** The current state of a client; without a record it was deleted. */
export interface ClientChange {
  readonly client_id: string
  readonly version: string
  readonly record: ClientRecord | undefined
}

/** How long the store remembers that a client was deleted. */
export const forgottenForMs = 86_400_000
