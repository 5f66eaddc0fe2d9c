import { deepFreeze } from '../../deep-freeze.ts'
import { memoizeLatest } from '../functional.ts'
import type { ClientFacts, ClientRegistry } from './client-registry.ts'
import type { ClientSync } from './client-sync.ts'
import type { Clients } from './configured-clients.ts'
import type { InternedMetadata } from './interned-metadata.ts'
import type { ClientRegistration } from './metadata.ts'
import { maxPerKind } from './secret-kinds.ts'
import type { ClientMembers } from './stored-clients.ts'

/** Reads clients of the store under the current configuration. */
export interface StoredClientReader {
  /** The client, or one line with the reason why it does not fit the configuration. */
  read(client_id: string, members: ClientMembers): ClientRegistration | string
  /**
   * The metadata of a client with these members, whether it fits the configuration or not; undefined if they cannot
   * be read.
   */
  metadataOf(members: ClientMembers): InternedMetadata | undefined
}

/**
 * Called when a client of the store is found that is not served. Of clients with equal metadata at least one is
 * reported.
 */
export interface ClientRegistryReport {
  invalid(client_id: string, reason: string): void
  /** The configuration has a client with the same id, which is served instead. */
  shadowed(client_id: string): void
}

/** The clients of the configuration and of the store, until closed. */
export interface JoinedClients extends ClientRegistry {
  close(): void
}

/** @param configured is served if both have a client with the same id */
export const joinClients = (
  configured: Clients,
  feed: ClientSync,
  reader: StoredClientReader,
  report: ClientRegistryReport,
): JoinedClients => {
  const found = new Map<string, ClientRegistration>()
  const invalid = new Set<string>()

  const readStored = (client_id: string, members: ClientMembers | undefined): ClientRegistration | undefined => {
    if (members === undefined || invalid.has(client_id)) return undefined
    const read = reader.read(client_id, members)
    if (typeof read !== 'string') return deepFreeze(read)
    invalid.add(client_id)
    report.invalid(client_id, read)
    return undefined
  }
  const load = (client_id: string): ClientRegistration | undefined => {
    const stored = feed.get(client_id)
    if (stored?.disabled) return undefined
    const client = configured.find(client_id) ?? readStored(client_id, stored?.members())
    if (client) found.set(client_id, client)
    return client
  }
  const reportShadowed = (client_id: string): void => {
    if (configured.has(client_id) && feed.get(client_id)?.members()) report.shadowed(client_id)
  }
  const onChange = (client_id: string): void => {
    found.delete(client_id)
    invalid.delete(client_id)
    reportShadowed(client_id)
    load(client_id)
  }
  const onReset = (): void => {
    found.clear()
    invalid.clear()
    for (const client_id of feed.ids()) reportShadowed(client_id)
    for (const { sample } of feed.groups()) load(String(sample.client_id))
  }
  const facts = joinFacts(configured, feed, reader)
  const unsubscribe = feed.follow(client_id => (client_id === undefined ? onReset() : onChange(client_id)))
  onReset()
  return {
    find: client_id => found.get(client_id) ?? load(client_id),
    has: client_id => configured.has(client_id) || feed.get(client_id) !== undefined,
    get internedMetadata() {
      return facts.internedMetadata
    },
    get maxSecretsPerKind() {
      return facts.maxSecretsPerKind
    },
    close: unsubscribe,
  }
}

/** The facts about all clients. They are recomputed only after a change; until then the same objects are returned. */
const joinFacts = (configured: ClientFacts, feed: ClientSync, reader: StoredClientReader): ClientFacts => {
  const internedMetadata = memoizeLatest(feed.groups, groups =>
    groups.length === 0
      ? configured.internedMetadata
      : [...configured.internedMetadata, ...groups.flatMap(({ sample }) => reader.metadataOf(sample) ?? [])],
  )
  const maxSecretsPerKind = memoizeLatest(feed.maxSecretsPerKind, stored =>
    maxPerKind(configured.maxSecretsPerKind, stored),
  )
  return {
    get internedMetadata() {
      return internedMetadata()
    },
    get maxSecretsPerKind() {
      return maxSecretsPerKind()
    },
  }
}
