import type { Grant } from './grants/grant.ts'
import { clientAuthMethods, type OAuthOptions } from './options.ts'

/** Authorization server metadata (RFC 8414 section 2). */
export type Metadata = Readonly<Record<string, string | boolean | readonly string[]>>

/** Says what is served and nothing else: a list without entries, or a place that is not served, is left out. */
export const createMetadata = (options: OAuthOptions, grants: readonly Grant[]): Metadata =>
  withoutEmpty({
    issuer: options.issuer,
    ...tokenMembers(options, grants),
    ...authorizationMembers(options),
    ...introspectionMembers(options),
    ...revocationMembers(options),
    jwks_uri: options.endpoints.jwks,
    scopes_supported: [...new Set(options.clients.flatMap(client => client.scope))],
  })

type Members = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

const tokenMembers = ({ endpoints }: OAuthOptions, grants: readonly Grant[]): Members =>
  endpoints.token === undefined
    ? {}
    : {
        token_endpoint: endpoints.token,
        token_endpoint_auth_methods_supported: clientAuthMethods,
        grant_types_supported: grants.map(grant => grant.type),
      }

const authorizationMembers = ({ endpoints }: OAuthOptions): Members =>
  endpoints.authorize === undefined
    ? {}
    : {
        authorization_endpoint: endpoints.authorize,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true, // RFC 9207 section 3
      }

/** A client that cannot prove itself may not introspect (RFC 7662 section 2.1). */
const introspectionMembers = ({ endpoints }: OAuthOptions): Members =>
  endpoints.introspect === undefined
    ? {}
    : {
        introspection_endpoint: endpoints.introspect,
        introspection_endpoint_auth_methods_supported: clientAuthMethods.filter(method => method !== 'none'),
      }

const revocationMembers = ({ endpoints }: OAuthOptions): Members =>
  endpoints.revoke === undefined
    ? {}
    : { revocation_endpoint: endpoints.revoke, revocation_endpoint_auth_methods_supported: clientAuthMethods }

const withoutEmpty = (members: Members): Metadata => {
  const kept: Record<string, string | boolean | readonly string[]> = {}
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && !(Array.isArray(value) && value.length === 0)) kept[name] = value
  }
  return kept
}
