/**
 * Clients kept in the store, beside those of the configuration, and which ids are disabled wherever the client stands.
 * Nobody but an operator ends a client, so these records alone have no lifetime; that one was forgotten has one.
 */
export interface ClientStore {
  find(client_id: string): Promise<KnownClient | undefined>
  /**
   * Stores `record`, or forgets the client (undefined), unless what is there has another version than `known` (undefined:
   * unless there is anything), atomically: of many writers one wins. Resolves to whether it was written. Once it has
   * resolved, `find` says so to every process, and `since` shows it.
   */
  put(client_id: string, record: ClientRecord | undefined, known: string | undefined): Promise<boolean>
  /**
   * Hands over what has changed since `cursor` (undefined: all there is) in parts, and resolves to where to go on. A
   * change may be shown twice, never missed by who asks at least every `forgottenForMs / 2`; of several of one client the
   * last may stand for all. Asking where nothing has changed costs next to nothing.
   */
  since(cursor: string | undefined, take: (part: readonly ClientChange[]) => void): Promise<ClientNews>
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

/** How one client stands now; without a record it was forgotten. */
export interface ClientChange {
  readonly client_id: string
  readonly record: ClientRecord | undefined
}

export interface ClientNews {
  readonly cursor: string
  /** What was handed over is all there is, and what else is known has gone: as at the first time, or when data were lost. */
  readonly isWhole: boolean
}

/** How long it is remembered that a client was forgotten. */
export const forgottenForMs = 86_400_000
