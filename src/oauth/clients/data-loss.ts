import type { StoredClients } from './stored-clients.ts'

/** Clients that the store had, and has no more, though nobody forgot them. */
export interface LostClients {
  readonly count: number
  /** So many of them were disabled, and stay so here. */
  readonly keptDisabled: number
}

/** Not the version of any record: whatever the store says next is newer. */
const lostVersion = ''

/**
 * Compares all that the store has with what was known of it. Who was disabled and was lost stays disabled, in `whole`,
 * until the store has another record of the client: a store that loses data gives nobody access back.
 * @param forgotten those of whom the store says that they were forgotten
 * @returns what was not lost already when `known` was read
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
