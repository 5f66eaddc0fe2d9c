import type { ClientRegistration } from '../options.ts'
import { toClientText } from './client-codec.ts'
import { type ClientTerms, createTermList } from './interned-metadata.ts'
import { countSecrets, joinMost, type MostSecrets, noSecrets } from './most-secrets.ts'

/** Clients on their way to another process, as JSON can hold them: their secrets in the clear. */
export interface PackedClients {
  readonly facts: ClientFacts
  /** None of them so large that a process is kept from its requests while it takes it. */
  readonly parts: readonly ClientPart[]
}

/** What is known of all clients without a look at each. */
export interface ClientFacts {
  /** Everything that one of them is registered for, in the order of the configuration. */
  readonly terms: readonly ClientTerms[]
  /** Of each form of secrets, as many as the client with the most of them has, and the costliest parameters. */
  readonly mostSecrets: MostSecrets
}

/** Some clients: a client_id and the text of the rest, in turns. */
export type ClientPart = readonly string[]

/** A part of so many is taken in a few milliseconds. */
const clientsPerPart = 1000

/** Each client_id comes once. */
export const packClients = (registrations: Iterable<ClientRegistration>): PackedClients => {
  const terms = createTermList()
  let mostSecrets = noSecrets
  const parts: string[][] = []
  let part: string[] = []
  for (const client of registrations) {
    mostSecrets = joinMost(mostSecrets, secretsOf(client))
    if (part.length === 0) parts.push(part)
    part.push(client.client_id, toClientText(client, terms.place(client)))
    if (part.length === 2 * clientsPerPart) part = []
  }
  return { facts: { terms: terms.all, mostSecrets }, parts }
}

const secretsOf = ({ secrets }: ClientRegistration): MostSecrets => {
  const hashes = secrets.filter(({ kind }) => kind !== 'plain').map(({ value }) => value.reveal())
  return countSecrets(hashes, secrets.length - hashes.length)
}
