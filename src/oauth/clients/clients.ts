import type { ClientRegistration } from '../options.ts'

/** The registered clients, by client_id. */
export interface Clients {
  find(client_id: string): ClientRegistration | undefined
}

/** The clients of the configuration; their ids are unique there. */
export const createClients = (registrations: readonly ClientRegistration[]): Clients => {
  const byId = new Map(registrations.map(client => [client.client_id, client]))
  return { find: client_id => byId.get(client_id) }
}
