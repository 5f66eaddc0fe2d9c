import type { OAuthOptions, ProtectedResource } from '../options.ts'
import { proofAlgs } from '../sender-constraint/dpop-proof.ts'

/**
 * Protected resource metadata (RFC 9728 section 2): which tokens an API behind the gateway accepts, and their issuer.
 */
export type ResourceMetadata = Readonly<Record<string, string | boolean | readonly string[]>>

/** Finds the metadata by the path at which they are served. */
export const createResourceMetadata = (options: OAuthOptions): ((path: string) => ResourceMetadata | undefined) => {
  const byPath = new Map(options.resources.map(resource => [resource.metadataPath, describe(resource, options)]))
  return path => byPath.get(path)
}

const describe = ({ resource, scopes, name }: ProtectedResource, options: OAuthOptions): ResourceMetadata => ({
  resource,
  authorization_servers: [options.issuer],
  ...(scopes.length > 0 && { scopes_supported: scopes }),
  bearer_methods_supported: ['header'],
  resource_name: name,
  dpop_signing_alg_values_supported: proofAlgs,
  ...(options.takesClientCertificates && { tls_client_certificate_bound_access_tokens: true }),
})
