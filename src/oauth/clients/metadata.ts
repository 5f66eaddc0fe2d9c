import type { Secret } from '../../secret.ts'
import type { ClientKeys } from '../client-keys/key-source.ts'
import type { GrantType, SigningAlg } from '../protocol.ts'

/** A registered client, by its RFC 7591 names. */
export interface ClientRegistration {
  readonly client_id: string
  readonly client_name: string
  readonly profile: Profile
  /** Every secret that is still accepted, the current one first. Empty for clients without a secret. */
  readonly secrets: readonly ClientSecret[]
  readonly grant_types: readonly GrantType[]
  readonly redirect_uris: readonly string[]
  /** The scopes of the registration, in the order of the configuration. */
  readonly scope: readonly string[]
  readonly token_endpoint_auth_method: ClientAuthMethod
  /** The only algorithm of its assertions; left out: any of ES256, PS256, EdDSA that fits its keys. */
  readonly token_endpoint_auth_signing_alg?: SigningAlg
  /** `endpoint`: the `aud` of an assertion may also be the URL of the endpoint that it is sent to. */
  readonly assertion_audience: 'issuer' | 'endpoint'
  /** Its public keys, for assertions, request objects and self-signed certificates (`x5c`). */
  readonly keys?: ClientKeys
  /** The name that its certificate must have, for `tls_client_auth` (RFC 8705 section 2.1.2). */
  readonly certificateName?: CertificateName
  /** Its access tokens are bound to its certificate (RFC 8705 section 3.4). */
  readonly tls_client_certificate_bound_access_tokens: boolean
  /** It must send DPoP proofs (RFC 9449 section 5.2). */
  readonly dpop_bound_access_tokens: boolean
  /** RFC 9126 section 6. */
  readonly require_pushed_authorization_requests: boolean
  /** RFC 9101 section 10.5. */
  readonly require_signed_request_object: boolean
  /** The only algorithm of its request objects; left out: any of ES256, PS256, EdDSA that fits its keys. */
  readonly request_object_signing_alg?: SigningAlg
  /** RFC 9701 section 6. */
  readonly introspection_signed_response_alg: SigningAlg
  /** The algorithm of JWT access tokens that are issued to it; RS256 for old clients. */
  readonly access_token_signed_response_alg: SigningAlg
  readonly application_type: 'web' | 'native'
  readonly pkce: 'required' | 'optional'
  /** False: the user may finish a sign-in in another browser than the one that began it, for example on a phone. */
  readonly bindToBrowser: boolean
  /** The tokens that it may introspect: those issued to it, all, or those for these resources. */
  readonly introspects: 'own' | 'all' | readonly string[]
  /** Name of its plan. */
  readonly plan: string
}

/** The secret itself (`client_secret`), or its stored form (`client_secret_hash`). */
export interface ClientSecret {
  readonly kind: 'plain' | 'hash'
  readonly value: Secret
  /** The secret is refused from this instant on: the overlap of a rotation ends. Left out: it does not expire. */
  readonly untilMs?: number
}

export const profiles = ['none', 'fapi2'] as const
export type Profile = (typeof profiles)[number]

export const certificateNameKinds = ['subject_dn', 'san_dns', 'san_uri', 'san_ip', 'san_email'] as const

/** `tls_client_auth_<kind>` of RFC 8705 section 2.1.2. */
export interface CertificateName {
  readonly kind: (typeof certificateNameKinds)[number]
  readonly value: string
}

export const clientAuthMethods = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'tls_client_auth',
  'self_signed_tls_client_auth',
  'none',
] as const
export type ClientAuthMethod = (typeof clientAuthMethods)[number]

/** Whether the client authenticates at all (RFC 6749 section 2.1). */
export const isConfidential = (client: Pick<ClientRegistration, 'token_endpoint_auth_method'>): boolean =>
  client.token_endpoint_auth_method !== 'none'

/**
 * Whether the client must follow the FAPI 2.0 Security Profile: by its own registration or by the setting for all
 * clients.
 */
export const isFapiClient = (
  client: Pick<ClientRegistration, 'profile'>,
  all: { readonly profile: Profile },
): boolean => client.profile === 'fapi2' || all.profile === 'fapi2'
