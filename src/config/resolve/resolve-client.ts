import type { ClientKeys } from '../../oauth/client-keys/key-source.ts'
import { type Clients, createClients } from '../../oauth/clients/configured-clients.ts'
import {
  type CertificateName,
  type ClientRegistration,
  type ClientSecret,
  certificateNameKinds,
} from '../../oauth/clients/metadata.ts'
import type { ParsedClient, ParsedConfig, ParsedSecret } from '../parse/parsed-config.ts'

/** Every client of a valid configuration, as the authorization server takes them. */
export const resolveClients = (parsed: ParsedConfig): Clients => createClients(registrationsOf(parsed))

/** A generator, so that not all registrations are in memory at once. */
function* registrationsOf({ topLevel, clients, planNames }: ParsedConfig): Generator<ClientRegistration> {
  const [plan = ''] = planNames
  const { profile, tokens } = topLevel.value
  for (const { value } of clients) yield toClient(value, { profile, alg: tokens.accessToken.alg, plan })
}

/** Defaults for clients. The profile, if it is set for all clients, applies even if a client sets another one. */
export interface ClientDefaults {
  readonly profile: ClientRegistration['profile']
  readonly alg: ClientRegistration['access_token_signed_response_alg']
  readonly plan: string
}

/** The profile of a client: its own, or the one that the file sets for all. */
export const profileOf = (
  client: ParsedClient,
  topLevel: Pick<ClientDefaults, 'profile'>,
): ClientRegistration['profile'] => (topLevel.profile === 'none' ? client.profile : topLevel.profile)

/** A valid client, as the authorization server takes it. */
export const toClient = (client: ParsedClient, defaults: ClientDefaults): ClientRegistration => {
  const profile = profileOf(client, defaults)
  const { alg } = defaults
  const { token_endpoint_auth_signing_alg, request_object_signing_alg } = client
  const keys = findKeys(client)
  const [certificateName] = certificateNames(client)
  return {
    client_id: client.client_id,
    client_name: client.client_name ?? client.client_id,
    profile,
    secrets: [...toSecrets(client), ...client.client_secrets.flatMap(toSecrets)],
    grant_types: [...new Set(client.grant_types)],
    redirect_uris: client.redirect_uris,
    scope: client.scope,
    token_endpoint_auth_method: client.token_endpoint_auth_method,
    assertion_audience: client.assertion_audience,
    tls_client_certificate_bound_access_tokens: client.tls_client_certificate_bound_access_tokens,
    dpop_bound_access_tokens: client.dpop_bound_access_tokens,
    require_pushed_authorization_requests: client.require_pushed_authorization_requests ?? profile === 'fapi2',
    require_signed_request_object: client.require_signed_request_object,
    introspection_signed_response_alg: client.introspection_signed_response_alg ?? alg,
    access_token_signed_response_alg: client.access_token_signed_response_alg ?? alg,
    application_type: client.application_type,
    pkce: client.pkce,
    bindToBrowser: client.bindToBrowser,
    introspects: client.introspects,
    plan: client.plan ?? defaults.plan,
    ...(token_endpoint_auth_signing_alg && { token_endpoint_auth_signing_alg }),
    ...(request_object_signing_alg && { request_object_signing_alg }),
    ...(keys && { keys }),
    ...(certificateName && { certificateName }),
  }
}

/** The secret in these members, or none. */
const toSecrets = (secret: Partial<ParsedSecret>): readonly ClientSecret[] => {
  const { client_secret, client_secret_hash, until } = secret
  const end = until === undefined ? {} : { untilMs: until }
  if (client_secret) return [{ kind: 'plain', value: client_secret, ...end }]
  return client_secret_hash ? [{ kind: 'hash', value: client_secret_hash, ...end }] : []
}

const findKeys = ({ jwks, jwks_uri }: ParsedClient): ClientKeys | undefined => {
  if (jwks) return { kind: 'jwks', jwks }
  return jwks_uri === undefined ? undefined : { kind: 'uri', uri: jwks_uri }
}

/** The registered names of the client's certificate; one, if the checks have passed. */
export const certificateNames = (client: ParsedClient): readonly CertificateName[] => {
  const names: CertificateName[] = []
  for (const { kind, field } of certificateNameFields) {
    const value = client[field]
    if (value !== undefined) names.push({ kind, value })
  }
  return names
}

const certificateNameFields = certificateNameKinds.map(kind => ({ kind, field: `tls_client_auth_${kind}` as const }))
