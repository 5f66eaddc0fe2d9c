/** What the channel between the processes has to know of the clients that go over it. */
export { type ClientIntake, createClientIntake } from '../oauth/clients/clients.ts'
export type { ClientPart, PackedClients } from '../oauth/clients/packed-clients.ts'
