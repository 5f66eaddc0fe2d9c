import type { ClientRegistration } from './options.ts'

/** The registered clients, by client_id. */
export interface Clients {
  find(client_id: string): ClientRegistration | undefined
}
