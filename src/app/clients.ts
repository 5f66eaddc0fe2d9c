/** What the channel between the processes has to know of the clients that go over it. */
export { openClients, type PackedClients } from '../oauth/clients/clients.ts'
