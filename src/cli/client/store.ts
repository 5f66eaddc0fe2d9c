import type { SidegateConfig } from '../../config/load.ts'
import type { ClientRecord, ClientStore, KnownClient } from '../../stores/ports/clients.ts'
import { withOperatedStore } from '../operator-store.ts'

/**
 * The clients in a configuration's store, for a command that runs beside the gateway. @throws Error as
 * `withOperatedStore` does
 */
export const withClientStore = <T>(
  config: SidegateConfig,
  use: (clients: ClientStore) => Promise<T>,
  access: 'write' | 'read' = 'write',
): Promise<T> => withOperatedStore(config, 'the clients', store => use(store.clients), access)

/** Other processes may change the same client at the same time, but not for long. */
const mostAttempts = 20

/**
 * Changes the store's record of a client, also if other processes change it at the same time.
 * @param change returns the new record for the current one; undefined: no record. Called again if another process was
 * faster
 */
export const changeClient = async (
  clients: ClientStore,
  client_id: string,
  change: (known: KnownClient | undefined) => ClientRecord | undefined,
): Promise<void> => {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const known = await clients.find(client_id)
    if (await clients.put(client_id, change(known), known?.version)) return
  }
  throw new Error(`other processes keep changing ${quoted(client_id)}; try again`)
}

/** The part of a record that remains when another part of it changes. */
export const membersOf = (known: KnownClient | undefined): Pick<ClientRecord, 'members'> =>
  known?.members === undefined ? {} : { members: known.members }

/** A name in a message, quoted so that it can be told from the words around it. */
export const quoted = (client_id: string): string => JSON.stringify(client_id)

export const unknownClient = (client_id: string): Error =>
  new Error(`neither the configuration nor the store has a client ${quoted(client_id)}`)
