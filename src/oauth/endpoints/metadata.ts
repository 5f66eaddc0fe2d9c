import type { ClientFacts } from '../clients/client-registry.ts'
import type { InternedMetadata } from '../clients/interned-metadata.ts'
import { type ClientAuthMethod, clientAuthMethods, isFapiClient } from '../clients/metadata.ts'
import type { Grant } from '../grants/grant.ts'
import type { OAuthOptions } from '../options.ts'
import { type SigningAlg, signingAlgs, strongSigningAlgs } from '../protocol.ts'
import { proofAlgs } from '../sender-constraint/dpop-proof.ts'

/** Authorization server metadata (RFC 8414 section 2). */
export type Metadata = Readonly<Record<string, string | boolean | readonly string[]>>

/** What there is to say, with all clients that are served. */
type MetadataOptions = Omit<OAuthOptions, 'clients'> & { readonly clients: Pick<ClientFacts, 'internedMetadata'> }

/** Says what is served and nothing else: a list without entries, or a place that is not served, is left out. */
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

/** RFC 9101 section 10.5 and OpenID Connect Discovery section 3, where a `request_uri` counts as supported if nothing is said. */
const requestObjectMembers = (options: MetadataOptions): Members => ({
  request_parameter_supported: true,
  request_uri_parameter_supported: false,
  request_object_signing_alg_values_supported: acceptedAlgs(options, client => client.request_object_signing_alg),
  require_signed_request_object: everyClient(options.clients.internedMetadata, 'require_signed_request_object'),
})

/** True where it holds for everybody who may send an authorization request; else it is not a fact about the server. */
const everyClient = (
  clients: readonly InternedMetadata[],
  demand: 'require_pushed_authorization_requests' | 'require_signed_request_object',
): true | undefined => {
  const authorizing = clients.filter(client => client.grant_types.includes('authorization_code'))
  return (authorizing.length > 0 && authorizing.every(client => client[demand])) || undefined
}

/** A client that cannot prove itself may not introspect (RFC 7662 section 2.1). */
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

/** How clients authenticate at one endpoint; the algorithms are wanted beside `private_key_jwt` (RFC 8414 section 2). */
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

/** What JWTs of clients may be signed with: RS256 only where an old client is registered with it by name. */
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
