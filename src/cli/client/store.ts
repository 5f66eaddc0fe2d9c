import type { SidegateConfig } from '../../config/load.ts'
import type { ClientRecord, ClientStore, KnownClient } from '../../stores/ports/clients.ts'
import { withOperatedStore } from '../operator-store.ts'

/** The clients in a configuration's store, for a command beside the gateway. @throws Error as `withOperatedStore` does */
export const withClientStore = <T>(
  config: SidegateConfig,
  use: (clients: ClientStore) => Promise<T>,
  access: 'write' | 'read' = 'write',
): Promise<T> => withOperatedStore(config, 'the clients', store => use(store.clients), access)

/** Others may change the same client at the same moment, but not for long. */
const mostAttempts = 20

/**
 * Changes what the store has of a client, whatever others do meanwhile.
 * @param change what is to be there in place of what is; undefined: nothing. Asked again when somebody else was faster
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
  throw new Error(`somebody else keeps changing ${quoted(client_id)}; try again`)
}

/** What stays of a record when something else in it changes. */
export const membersOf = (known: KnownClient | undefined): Pick<ClientRecord, 'members'> =>
  known?.members === undefined ? {} : { members: known.members }

/** A name in a message, as it can be told from the words around it. */
export const quoted = (client_id: string): string => JSON.stringify(client_id)

export const unknownClient = (client_id: string): Error =>
  new Error(`neither the configuration nor the store has a client ${quoted(client_id)}`)
