/** What the channel between the processes has to know of the clients that go over it. */

export type { ClientPart, ClientSnapshot } from '../oauth/clients/client-snapshot.ts'
export { type ClientIntake, createClientIntake } from '../oauth/clients/configured-clients.ts'
