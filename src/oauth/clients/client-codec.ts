import { Secret } from '../../secret.ts'
import type { InternedMetadata } from './interned-metadata.ts'
import type { ClientRegistration, ClientSecret } from './metadata.ts'

/** A client as text: its own members with its secrets in the clear, and the index of its shared metadata. */
interface ClientText extends Omit<ClientRegistration, keyof InternedMetadata | 'client_id' | 'secrets'> {
  readonly secrets: readonly (Omit<ClientSecret, 'value'> & { readonly value: string })[]
  readonly metadataIndex: number
}

/** @param metadataIndex the index of its shared metadata in the table of all clients */
export const encodeClient = (client: ClientRegistration, metadataIndex: number): string => {
  const { client_name, secrets, redirect_uris, keys, certificateName } = client
  const revealed = secrets.map(({ kind, value, untilMs }) => ({ kind, value: value.reveal(), untilMs }))
  const text = { client_name, secrets: revealed, redirect_uris, keys, certificateName, metadataIndex }
  return JSON.stringify(text satisfies Record<keyof ClientText, unknown>)
}

/** @param metadata the shared metadata of all clients, by index */
export const decodeClient = (
  client_id: string,
  text: string,
  metadata: readonly InternedMetadata[],
): ClientRegistration => {
  const { metadataIndex, secrets, ...own } = JSON.parse(text) as ClientText
  const sealed = secrets.map(({ value, ...rest }) => ({ ...rest, value: new Secret(value) }))
  return { client_id, ...own, secrets: sealed, ...(metadata[metadataIndex] as InternedMetadata) }
}
