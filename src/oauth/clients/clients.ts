import type { ClientRegistration, ClientSecret } from '../options.ts'
import { type ClientTerms, createTermList } from './client-terms.ts'
import { fromClientText, toClientText } from './client-text.ts'
import { formOf, type SecretForm } from './secret-form.ts'

/**
 * The registered clients. There may be a hundred thousand, so they are kept as texts: one is read when it is asked for,
 * and what has to be known of all of them is known beforehand.
 */
export interface Clients extends Iterable<ClientRegistration> {
  /** The same object for the same client_id each time. */
  find(client_id: string): ClientRegistration | undefined
  /** Everything that one of them is registered for, in the order of the configuration. */
  readonly terms: readonly ClientTerms[]
  /** Of each form of secrets, as many as the client with the most of them has. */
  readonly mostSecrets: Readonly<Record<SecretForm, number>>
  pack(): PackedClients
}

/** Clients on their way to another process, as JSON can hold them: their secrets in the clear. */
export interface PackedClients {
  readonly terms: readonly ClientTerms[]
  readonly mostSecrets: Readonly<Record<SecretForm, number>>
  /** A client_id and the text of the rest, in turns. */
  readonly texts: readonly string[]
}

/** Each client_id comes once. */
export const createClients = (registrations: Iterable<ClientRegistration>): Clients => {
  const terms = createTermList()
  const mostSecrets = { plain: 0, quick: 0, slow: 0 }
  const texts: string[] = []
  for (const client of registrations) {
    raise(mostSecrets, client.secrets)
    texts.push(client.client_id, toClientText(client, terms.place(client)))
  }
  const packed: PackedClients = { terms: freeze(terms.all), mostSecrets: freeze(mostSecrets), texts }
  // Whoever packs them has no other use for them.
  let opened: Clients | undefined
  const open = (): Clients => {
    opened ??= openClients(packed)
    return opened
  }
  return {
    find: client_id => open().find(client_id),
    terms: packed.terms,
    mostSecrets,
    pack: () => packed,
    [Symbol.iterator]: () => open()[Symbol.iterator](),
  }
}

/** Clients as they were packed. */
export const openClients = (packed: PackedClients): Clients => {
  const texts = new Map<string, string>()
  for (let at = 0; at < packed.texts.length; at += 2) texts.set(packed.texts[at] ?? '', packed.texts[at + 1] ?? '')
  const terms = freeze(packed.terms)
  const known = new Map<string, ClientRegistration>()

  const read = (client_id: string): ClientRegistration | undefined => {
    const text = texts.get(client_id)
    if (text === undefined) return undefined
    const client = freeze(fromClientText(client_id, text, terms))
    known.set(client_id, client)
    return client
  }
  const find = (client_id: string): ClientRegistration | undefined => known.get(client_id) ?? read(client_id)
  return {
    find,
    terms,
    mostSecrets: packed.mostSecrets,
    pack: () => packed,
    *[Symbol.iterator]() {
      for (const client_id of texts.keys()) {
        const client = find(client_id)
        if (client) yield client
      }
    },
  }
}

/** Counts what this client has. */
const raise = (most: Record<SecretForm, number>, secrets: readonly ClientSecret[]): void => {
  const count = { plain: 0, quick: 0, slow: 0 }
  for (const secret of secrets) {
    const form = formOf(secret)
    count[form]++
    most[form] = Math.max(most[form], count[form])
  }
}

/** Freezes a value and all that it holds. */
const freeze = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) freeze(part)
  return Object.freeze(value)
}
