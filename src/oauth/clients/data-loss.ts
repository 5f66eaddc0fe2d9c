import type { StoredClients } from './stored-clients.ts'

/** Clients that the store had and has lost. Nothing deleted them. */
export interface LostClients {
  readonly count: number
  /** How many of them were disabled. They stay disabled in this process. */
  readonly keptDisabled: number
}

/** No record has this version, so any later record of the store counts as newer. */
const lostVersion = ''

/**
 * Compares all clients of the store with the clients that were known before. A disabled client that was lost stays
 * disabled, in `whole`, until the store has another record of it: a store that loses data must not give a client its
 * access back.
 * @param forgotten the clients that the store reports as deleted
 * @returns the clients that were not already lost when `known` was read
 */
export const keepLostDisabled = (
  known: StoredClients,
  whole: StoredClients,
  forgotten: ReadonlySet<string>,
): LostClients => {
  let count = 0
  let keptDisabled = 0
  for (const client_id of known.ids()) {
    const before = known.get(client_id)
    if (!before || whole.get(client_id) || forgotten.has(client_id)) continue
    if (before.disabled) whole.set({ client_id, version: lostVersion, record: { disabled: true } })
    if (before.version === lostVersion) continue
    count++
    if (before.disabled) keptDisabled++
  }
  return { count, keptDisabled }
}
