import type { ClientRegistration } from './metadata.ts'

/** The metadata that many clients have in common. A client's own members are not included. */
export type InternedMetadata = Pick<ClientRegistration, (typeof internedKeys)[number]>

const internedKeys = [
  'profile',
  'grant_types',
  'scope',
  'token_endpoint_auth_method',
  'token_endpoint_auth_signing_alg',
  'assertion_audience',
  'tls_client_certificate_bound_access_tokens',
  'dpop_bound_access_tokens',
  'require_pushed_authorization_requests',
  'require_signed_request_object',
  'request_object_signing_alg',
  'introspection_signed_response_alg',
  'access_token_signed_response_alg',
  'application_type',
  'pkce',
  'bindToBrowser',
  'introspects',
  'plan',
] as const satisfies readonly (keyof ClientRegistration)[]

/** Distinct metadata, in the order of their first occurrence. */
export interface MetadataTable {
  readonly all: readonly InternedMetadata[]
  /** The index of this client's metadata in `all`. New metadata are added. */
  indexOf(client: ClientRegistration): number
}

export const createMetadataTable = (): MetadataTable => {
  const all: InternedMetadata[] = []
  const indexes = new Map<string, number>()
  let last: ClientRegistration | undefined
  let lastIndex = 0

  const find = (client: ClientRegistration): number => {
    const metadata = internedMetadataOf(client)
    const text = JSON.stringify(metadata)
    const known = indexes.get(text)
    if (known !== undefined) return known
    indexes.set(text, all.length)
    return all.push(metadata) - 1
  }
  return {
    all,
    indexOf(client) {
      // Most clients have the same metadata as the client before, and comparing these two is fast.
      if (!last || !haveSameMetadata(last, client)) lastIndex = find(client)
      last = client
      return lastIndex
    },
  }
}

const haveSameMetadata = (one: ClientRegistration, other: ClientRegistration): boolean =>
  internedKeys.every(key => shallowEqual(one[key], other[key]))

const shallowEqual = (one: unknown, other: unknown): boolean =>
  one === other || (Array.isArray(one) && Array.isArray(other) && areItemsEqual(one, other))

const areItemsEqual = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length && some.every((one, at) => one === others[at])

/** The metadata of a client without its own members. */
export const internedMetadataOf = (client: ClientRegistration): InternedMetadata => {
  const { client_id, client_name, secrets, redirect_uris, keys, certificateName, ...metadata } = client
  return metadata
}
