import type { ClientFacts } from '../clients/client-registry.ts'
import type { InternedMetadata } from '../clients/interned-metadata.ts'
import { type ClientAuthMethod, clientAuthMethods, isFapiClient } from '../clients/metadata.ts'
import type { Grant } from '../grants/grant.ts'
import type { OAuthOptions } from '../options.ts'
import { type SigningAlg, signingAlgs, strongSigningAlgs } from '../protocol.ts'
import { proofAlgs } from '../sender-constraint/dpop-proof.ts'

/** Authorization server metadata (RFC 8414 section 2). */
export type Metadata = Readonly<Record<string, string | boolean | readonly string[]>>

/** The options that the metadata describe, with the metadata of all clients. */
type MetadataOptions = Omit<OAuthOptions, 'clients'> & { readonly clients: Pick<ClientFacts, 'internedMetadata'> }

/** Describes only what this server serves: an empty list, or an endpoint that is not served, is left out. */
export const createMetadata = (options: MetadataOptions, grants: readonly Grant[]): Metadata =>
  withoutEmpty({
    issuer: options.issuer,
    ...tokenMembers(options, grants),
    ...authorizationMembers(options),
    ...introspectionMembers(options),
    ...revocationMembers(options),
    jwks_uri: options.endpoints.jwks,
    scopes_supported: [...new Set(options.clients.internedMetadata.flatMap(({ scope }) => scope))],
    protected_resources: describedResources(options), // RFC 9728 section 4
  })

type Members = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

const tokenMembers = (options: MetadataOptions, grants: readonly Grant[]): Members =>
  options.endpoints.token === undefined
    ? {}
    : {
        token_endpoint: options.endpoints.token,
        ...authMembers('token', options, authMethods(options)),
        grant_types_supported: grants.map(grant => grant.type),
        dpop_signing_alg_values_supported: proofAlgs, // RFC 9449 section 5.1
        tls_client_certificate_bound_access_tokens: options.takesClientCertificates || undefined, // RFC 8705 section 3.3
      }

const authorizationMembers = (options: MetadataOptions): Members =>
  options.endpoints.authorize === undefined
    ? {}
    : {
        authorization_endpoint: options.endpoints.authorize,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true, // RFC 9207 section 3
        ...pushedMembers(options),
        ...requestObjectMembers(options),
      }

/** RFC 9126 section 5. */
const pushedMembers = ({ endpoints, clients, profile }: MetadataOptions): Members => ({
  pushed_authorization_request_endpoint: endpoints.par,
  require_pushed_authorization_requests:
    profile === 'fapi2' || everyClient(clients.internedMetadata, 'require_pushed_authorization_requests'),
})

/**
 * RFC 9101 section 10.5 and OpenID Connect Discovery section 3. The latter takes a missing
 * `request_uri_parameter_supported` for true.
 */
const requestObjectMembers = (options: MetadataOptions): Members => ({
  request_parameter_supported: true,
  request_uri_parameter_supported: false,
  request_object_signing_alg_values_supported: acceptedAlgs(options, client => client.request_object_signing_alg),
  require_signed_request_object: everyClient(options.clients.internedMetadata, 'require_signed_request_object'),
})

/** True if it holds for every client that may send authorization requests; otherwise it is no fact about the server. */
const everyClient = (
  clients: readonly InternedMetadata[],
  demand: 'require_pushed_authorization_requests' | 'require_signed_request_object',
): true | undefined => {
  const authorizing = clients.filter(client => client.grant_types.includes('authorization_code'))
  return (authorizing.length > 0 && authorizing.every(client => client[demand])) || undefined
}

/** A client that does not authenticate may not introspect (RFC 7662 section 2.1). */
const introspectionMembers = (options: MetadataOptions): Members => {
  if (options.endpoints.introspect === undefined) return {}
  const signed = new Set(options.clients.internedMetadata.map(client => client.introspection_signed_response_alg))
  return {
    introspection_endpoint: options.endpoints.introspect,
    ...authMembers(
      'introspection',
      options,
      authMethods(options).filter(method => method !== 'none'),
    ),
    introspection_signing_alg_values_supported: signingAlgs.filter(alg => signed.has(alg)), // RFC 9701 section 7
  }
}

const revocationMembers = (options: MetadataOptions): Members =>
  options.endpoints.revoke === undefined
    ? {}
    : { revocation_endpoint: options.endpoints.revoke, ...authMembers('revocation', options, authMethods(options)) }

/** How clients authenticate at one endpoint. RFC 8414 section 2 requires the algorithms beside `private_key_jwt`. */
const authMembers = (
  endpoint: 'token' | 'introspection' | 'revocation',
  options: MetadataOptions,
  methods: readonly ClientAuthMethod[],
): Members => ({
  [`${endpoint}_endpoint_auth_methods_supported`]: methods,
  [`${endpoint}_endpoint_auth_signing_alg_values_supported`]: acceptedAlgs(
    options,
    client => client.token_endpoint_auth_signing_alg,
  ),
})

const authMethods = ({ profile, takesClientCertificates }: MetadataOptions): readonly ClientAuthMethod[] =>
  clientAuthMethods.filter(
    method =>
      (takesClientCertificates || !byCertificate.has(method)) && (profile !== 'fapi2' || fapiMethods.has(method)),
  )

const byCertificate: ReadonlySet<ClientAuthMethod> = new Set(['tls_client_auth', 'self_signed_tls_client_auth'])

/** FAPI 2.0 Security Profile section 5.3.2.1. */
const fapiMethods: ReadonlySet<ClientAuthMethod> = new Set([...byCertificate, 'private_key_jwt'])

/** The algorithms of JWTs that clients sign. RS256 is among them only if an old client is registered for RS256. */
const acceptedAlgs = (
  options: MetadataOptions,
  pinned: (client: InternedMetadata) => SigningAlg | undefined,
): readonly SigningAlg[] => {
  const acceptsRs256 = options.clients.internedMetadata.some(
    client => pinned(client) === 'RS256' && !isFapiClient(client, options),
  )
  return acceptsRs256 ? [...strongSigningAlgs, 'RS256'] : strongSigningAlgs
}

const describedResources = ({ resources }: MetadataOptions): readonly string[] =>
  resources.filter(({ metadataPath }) => metadataPath !== undefined).map(({ resource }) => resource)

const withoutEmpty = (members: Members): Metadata =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) =>
      value === undefined || (Array.isArray(value) && value.length === 0) ? [] : [[name, value]],
    ),
  )
