import { setOwnMember } from '../../own-member.ts'
import type { ClientChange, ClientRecord } from '../../stores/ports/clients.ts'
import { certificateNameKinds } from './metadata.ts'
import { countSecrets, joinMost, type MostSecrets, noSecrets } from './secret-kinds.ts'

/** A client's members as the configuration has them. */
export type ClientMembers = Readonly<Record<string, unknown>>

/** A client of the store, or of one elsewhere that it is disabled. */
export interface StoredClient {
  readonly disabled: boolean
  /** Of the record. */
  readonly version: string
  /** Read anew each time. Undefined: it is elsewhere. */
  members(): ClientMembers | undefined
}

/** What many clients of the store have in common: everything but what is a client's own. */
export interface ClientGroup {
  readonly terms: ClientMembers
  /** One of them, for what is to be known of all. */
  readonly sample: ClientMembers
  /** How many they are now. */
  readonly count: number
}

/** The records of the store, in memory. There may be a hundred thousand, so what they have in common is kept once. */
export interface StoredClients {
  get(client_id: string): StoredClient | undefined
  ids(): Iterable<string>
  /** Another array whenever there are others. */
  kinds(): readonly ClientGroup[]
  /** Of each form of secrets as many as one client has had at most, and the costliest; the same object while that is so. */
  maxSecretsPerKind(): MostSecrets
  set(change: ClientChange): void
}

interface Kind extends ClientGroup {
  readonly text: string
  count: number
}

interface Entry extends StoredClient {
  readonly kind: Kind | undefined
}

export const createStoredClients = (): StoredClients => {
  const entries = new Map<string, Entry>()
  const kinds = new Map<string, Kind>()
  let listed: readonly ClientGroup[] | undefined
  let most = noSecrets

  const join = (sample: ClientMembers, terms: ClientMembers): Kind => {
    const text = JSON.stringify(terms)
    const known = kinds.get(text)
    if (known) {
      known.count++
      return known
    }
    const kind = { text, terms, sample, count: 1 }
    kinds.set(text, kind)
    listed = undefined
    return kind
  }
  const leave = (kind: Kind): void => {
    kind.count--
    if (kind.count > 0) return
    kinds.delete(kind.text)
    listed = undefined
  }
  const toEntry = ({ members: text, disabled }: ClientRecord, version: string): Entry => {
    if (text === undefined) return { disabled, version, kind: undefined, members: () => undefined }
    const members = parseMembers(text)
    const { own, terms } = divide(members)
    most = joinMost(most, countSecrets(hashesOf(own)))
    const kind = join(members, terms)
    const ownText = JSON.stringify(own)
    return { disabled, version, kind, members: () => ({ ...JSON.parse(ownText), ...kind.terms }) }
  }
  return {
    get: client_id => entries.get(client_id),
    ids: () => entries.keys(),
    kinds() {
      listed ??= [...kinds.values()]
      return listed
    },
    maxSecretsPerKind: () => most,
    set({ client_id, version, record }) {
      const before = entries.get(client_id)
      if (record) entries.set(client_id, toEntry(record, version))
      else entries.delete(client_id)
      if (before?.kind) leave(before.kind)
    },
  }
}

/** What somebody else has put there is no client, and is told as one without members. */
export const parseMembers = (text: string): ClientMembers => {
  try {
    const members: unknown = JSON.parse(text)
    return typeof members === 'object' && members !== null ? { ...members } : {}
  } catch {
    return {}
  }
}

const divide = (members: ClientMembers): { readonly own: ClientMembers; readonly terms: ClientMembers } => {
  const own: Record<string, unknown> = {}
  const terms: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(members)) setOwnMember(ownMembers.has(name) ? own : terms, name, value)
  return { own, terms }
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
