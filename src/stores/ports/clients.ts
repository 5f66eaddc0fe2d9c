/**
 * Clients kept in the store, beside those of the configuration, and which ids are disabled wherever the client stands.
 * Nobody but an operator ends a client, so these records alone have no lifetime; that one was forgotten has one.
 */
export interface ClientStore {
  find(client_id: string): Promise<KnownClient | undefined>
  /**
   * Stores `record`, or forgets the client (undefined), unless what is there has another version than `known` (undefined:
   * unless there is anything), atomically: of many writers one wins. Resolves to whether it was written. Once it has
   * resolved, `find` says so to every process, and `since` shows it. Who is not there may be forgotten all the same: some
   * process may still know what the store has lost.
   */
  put(client_id: string, record: ClientRecord | undefined, known: string | undefined): Promise<boolean>
  /** Whether it is remembered that this client was forgotten. */
  wasForgotten(client_id: string): Promise<boolean>
  /**
   * Hands over in parts what has changed since `cursor` (undefined: all there is), and resolves to the next cursor. A change
   * may be shown twice, never missed by who asks within `forgottenForMs`; of several of one client the last stands for all.
   * A reader whose cursor is of what the store has lost is handed all there is.
   * Asking where nothing has changed costs next to nothing.
   */
  since(cursor: string | undefined, take: TakeChanges): Promise<string>
}

export interface ClientRecord {
  /** Its members as the configuration has them, as JSON; the store does not look inside. Left out: the client is not here. */
  readonly members?: string
  /** Nothing of it is good, wherever the client stands. */
  readonly disabled: boolean
}

export interface KnownClient extends ClientRecord {
  /** Another after each change, also when a client comes back that was forgotten. */
  readonly version: string
}

/**
 * Takes a part of what has changed. Where `isWhole`, the parts are all there is, be they empty, and what else is known has
 * gone: so it is the first time, and where the store has lost data.
 */
export type TakeChanges = (part: readonly ClientChange[], isWhole: boolean) => void

/** How one client stands now; without a record it was forgotten. */
export interface ClientChange {
  readonly client_id: string
  readonly version: string
  readonly record: ClientRecord | undefined
}

/** How long it is remembered that a client was forgotten. */
export const forgottenForMs = 86_400_000
