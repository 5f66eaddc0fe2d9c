import { encodeClient } from './client-codec.ts'
import type { ClientFacts } from './client-registry.ts'
import { createMetadataTable } from './interned-metadata.ts'
import type { ClientRegistration } from './metadata.ts'
import { countSecrets, type MaxSecretsPerKind, maxPerKind, noSecrets } from './secret-kinds.ts'

/** Clients on their way to another process, as JSON can hold them: their secrets in the clear. */
export interface ClientSnapshot {
  readonly facts: ClientFacts
  /** None of them so large that a process is kept from its requests while it takes it. */
  readonly parts: readonly ClientPart[]
}

/** Some clients: a client_id and the text of the rest, in turns. */
export type ClientPart = readonly string[]

/** A part of so many is taken in a few milliseconds. */
const clientsPerPart = 1000

/** Each client_id comes once. */
export const snapshotClients = (registrations: Iterable<ClientRegistration>): ClientSnapshot => {
  const table = createMetadataTable()
  let maxSecretsPerKind = noSecrets
  const parts: string[][] = []
  let part: string[] = []
  for (const client of registrations) {
    maxSecretsPerKind = maxPerKind(maxSecretsPerKind, secretsOf(client))
    if (part.length === 0) parts.push(part)
    part.push(client.client_id, encodeClient(client, table.indexOf(client)))
    if (part.length === 2 * clientsPerPart) part = []
  }
  return { facts: { internedMetadata: table.all, maxSecretsPerKind }, parts }
}

const secretsOf = ({ secrets }: ClientRegistration): MaxSecretsPerKind => {
  const hashes = secrets.filter(({ kind }) => kind !== 'plain').map(({ value }) => value.reveal())
  return countSecrets(hashes, secrets.length - hashes.length)
}
