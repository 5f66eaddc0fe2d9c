import { deepFreeze } from '../../deep-freeze.ts'
import { decodeClient } from './client-codec.ts'
import type { ClientFacts, ClientRegistry } from './client-registry.ts'
import { type ClientPart, type ClientSnapshot, snapshotClients } from './client-snapshot.ts'
import type { ClientRegistration } from './metadata.ts'

/**
 * The clients of the configuration. There may be a hundred thousand, so they are kept as texts: a client is decoded
 * when it is first looked up, and the facts about all clients are computed in advance.
 */
export interface Clients extends ClientRegistry, Iterable<ClientRegistration> {
  pack(): ClientSnapshot
}

/** @param registrations each client_id occurs once */
export const createClients = (registrations: Iterable<ClientRegistration>): Clients => {
  const packed = snapshotClients(registrations)
  // The primary only packs the clients for its workers, so they are decoded only if a caller looks one up.
  let opened: Clients | undefined
  const open = (): Clients => {
    opened ??= openClients(packed)
    return opened
  }
  return {
    ...deepFreeze(packed.facts),
    find: client_id => open().find(client_id),
    has: client_id => open().has(client_id),
    pack: () => packed,
    [Symbol.iterator]: () => open()[Symbol.iterator](),
  }
}

/** Opens a snapshot. */
export const openClients = ({ facts, parts }: ClientSnapshot): Clients => {
  const intake = createClientIntake()
  for (const part of parts) intake.add(part)
  return intake.open(facts)
}

/** Receives a snapshot part by part. */
export interface ClientIntake {
  add(part: ClientPart): void
  /** Opens the clients of the parts so far. Later parts belong to the next snapshot. */
  open(facts: ClientFacts): Clients
}

export const createClientIntake = (): ClientIntake => {
  let texts = new Map<string, string>()
  return {
    add(part) {
      for (let at = 0; at < part.length; at += 2) texts.set(part[at] ?? '', part[at + 1] ?? '')
    },
    open(facts) {
      const taken = texts
      texts = new Map()
      return fromTexts(deepFreeze(facts), taken)
    },
  }
}

const fromTexts = (facts: ClientFacts, texts: ReadonlyMap<string, string>): Clients => {
  const known = new Map<string, ClientRegistration>()

  const read = (client_id: string): ClientRegistration | undefined => {
    const text = texts.get(client_id)
    if (text === undefined) return undefined
    const client = deepFreeze(decodeClient(client_id, text, facts.internedMetadata))
    known.set(client_id, client)
    return client
  }
  const find = (client_id: string): ClientRegistration | undefined => known.get(client_id) ?? read(client_id)
  return {
    ...facts,
    find,
    has: client_id => texts.has(client_id),
    pack: () => ({ facts, parts: [[...texts].flat()] }),
    *[Symbol.iterator]() {
      for (const client_id of texts.keys()) {
        const client = find(client_id)
        if (client) yield client
      }
    },
  }
}
