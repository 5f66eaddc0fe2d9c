import { setOwnMember } from '../../own-member.ts'
import type { ClientChange, ClientRecord } from '../../stores/ports/clients.ts'
import { certificateNameKinds } from './metadata.ts'
import { countSecrets, type MaxSecretsPerKind, maxPerKind, noSecrets } from './secret-kinds.ts'

/** A client's members, spelled as in the configuration. */
export type ClientMembers = Readonly<Record<string, unknown>>

/** A client of the store, or the record that a client of the configuration is disabled. */
export interface StoredClient {
  readonly disabled: boolean
  /** The version of the record. */
  readonly version: string
  /** Decoded at each call. Undefined: the client is in the configuration. */
  members(): ClientMembers | undefined
}

/** Clients of the store with equal metadata. */
export interface ClientGroup {
  readonly metadata: ClientMembers
  /** The members of one of the clients. */
  readonly sample: ClientMembers
  /** The current number of these clients. */
  readonly count: number
}

/** The records of the store, in memory. There may be a hundred thousand, so equal metadata are kept once. */
export interface StoredClients {
  get(client_id: string): StoredClient | undefined
  ids(): Iterable<string>
  /** Returns another array after the groups have changed. */
  groups(): readonly ClientGroup[]
  /**
   * For each kind of secret the largest number that one client has had so far, and the costliest parameters; the same
   * object until that changes.
   */
  maxSecretsPerKind(): MaxSecretsPerKind
  set(change: ClientChange): void
}

interface Group extends ClientGroup {
  readonly text: string
  count: number
}

interface Entry extends StoredClient {
  readonly group: Group | undefined
}

export const createStoredClients = (): StoredClients => {
  const entries = new Map<string, Entry>()
  const byMetadata = new Map<string, Group>()
  let groupList: readonly ClientGroup[] | undefined
  let maxSecrets = noSecrets

  const joinGroup = (sample: ClientMembers, metadata: ClientMembers): Group => {
    const text = JSON.stringify(metadata)
    const known = byMetadata.get(text)
    if (known) {
      known.count++
      return known
    }
    const group = { text, metadata, sample, count: 1 }
    byMetadata.set(text, group)
    groupList = undefined
    return group
  }
  const leaveGroup = (group: Group): void => {
    group.count--
    if (group.count > 0) return
    byMetadata.delete(group.text)
    groupList = undefined
  }
  const toEntry = ({ members: text, disabled }: ClientRecord, version: string): Entry => {
    if (text === undefined) return { disabled, version, group: undefined, members: () => undefined }
    const members = parseMembers(text)
    const { own, metadata } = splitMembers(members)
    maxSecrets = maxPerKind(maxSecrets, countSecrets(hashesOf(own)))
    const group = joinGroup(members, metadata)
    const ownText = JSON.stringify(own)
    return { disabled, version, group, members: () => ({ ...JSON.parse(ownText), ...group.metadata }) }
  }
  return {
    get: client_id => entries.get(client_id),
    ids: () => entries.keys(),
    groups() {
      groupList ??= [...byMetadata.values()]
      return groupList
    },
    maxSecretsPerKind: () => maxSecrets,
    set({ client_id, version, record }) {
      const before = entries.get(client_id)
      if (record) entries.set(client_id, toEntry(record, version))
      else entries.delete(client_id)
      if (before?.group) leaveGroup(before.group)
    },
  }
}

/** A record that another program has written may be invalid. It is read as a client without members. */
export const parseMembers = (text: string): ClientMembers => {
  try {
    const members: unknown = JSON.parse(text)
    return typeof members === 'object' && members !== null ? { ...members } : {}
  } catch {
    return {}
  }
}

const splitMembers = (members: ClientMembers): { readonly own: ClientMembers; readonly metadata: ClientMembers } => {
  const own: Record<string, unknown> = {}
  const metadata: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(members)) setOwnMember(ownMembers.has(name) ? own : metadata, name, value)
  return { own, metadata }
}

const ownMembers: ReadonlySet<string> = new Set([
  'client_id',
  'client_name',
  'client_secret_hash',
  'client_secrets',
  'redirect_uris',
  'jwks',
  'jwks_uri',
  ...certificateNameKinds.map(kind => `tls_client_auth_${kind}`),
])

const hashesOf = ({ client_secret_hash, client_secrets }: ClientMembers): readonly string[] => {
  const others: readonly unknown[] = Array.isArray(client_secrets) ? client_secrets : []
  const hashes = [client_secret_hash, ...others.map(secret => Object(secret).client_secret_hash)]
  return hashes.filter(hash => typeof hash === 'string')
}
