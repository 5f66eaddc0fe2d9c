import type { ClientRegistration } from './metadata.ts'

/** What a client is registered for: few terms for many clients. What is not in here is a client's own. */
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

/** Terms that are each different, in the order in which they came. */
export interface MetadataTable {
  readonly all: readonly InternedMetadata[]
  /** Where the terms of this client are in `all`; they are added where they are new. */
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
      // Most often they are those of the client before, and that is known at once.
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

/** What of a client is not its own. */
export const internedMetadataOf = (client: ClientRegistration): InternedMetadata => {
  const { client_id, client_name, secrets, redirect_uris, keys, certificateName, ...metadata } = client
  return metadata
}
