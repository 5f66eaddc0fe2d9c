import { encodeClient } from './client-codec.ts'
import type { ClientFacts } from './client-registry.ts'
import { createMetadataTable } from './interned-metadata.ts'
import type { ClientRegistration } from './metadata.ts'
import { countSecrets, type MaxSecretsPerKind, maxPerKind, noSecrets } from './secret-kinds.ts'

/** Clients as JSON for another process, with their secrets in the clear. */
export interface ClientSnapshot {
  readonly facts: ClientFacts
  /** Each part is small enough that a process can decode it between two requests. */
  readonly parts: readonly ClientPart[]
}

/** Some clients: client_id and encoded client alternate. */
export type ClientPart = readonly string[]

/** A part of this size is decoded in a few milliseconds. */
const clientsPerPart = 1000

/** @param registrations each client_id occurs once */
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
