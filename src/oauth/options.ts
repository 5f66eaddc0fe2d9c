import type { Secret } from '../secret.ts'
import type { Clients } from './clients/configured-clients.ts'
import type { AccessTokenFormat, GrantType, SigningAlg, StrongSigningAlg } from './protocol.ts'

/** Everything the authorization server is told. All members are present; the configuration has filled in defaults. */
export interface OAuthOptions {
  /** Byte-equal to every `iss`; never taken from a request. */
  readonly issuer: string
  /** `fapi2`: what every client must keep to, whatever it says itself. */
  readonly profile: Profile
  /** Those of the configuration; there may be more in the store. */
  readonly clients: Clients
  readonly scopeTexts: ScopeTexts
  readonly accessToken: {
    readonly format: AccessTokenFormat
    readonly lifetimeSec: number
    readonly alg: StrongSigningAlg
  }
  readonly refreshToken: {
    readonly lifetimeSec: number
    /** How long after a rotation the token before it still yields the same successor. */
    readonly reuseWindowSec: number
  }
  readonly code: { readonly lifetimeSec: number }
  /** Pushed authorization requests (RFC 9126). */
  readonly par: { readonly lifetimeSec: number }
  readonly dpop: {
    /** `required`: a proof without a fresh nonce of ours is answered with `use_dpop_nonce` (RFC 9449 section 8). */
    readonly nonce: 'required' | 'optional'
  }
  readonly keys: {
    /** How long a signing key is used before its successor takes over. */
    readonly rotateEverySec: number
    /** A private JWK set to sign with in place of keys of our own: the text of the operator's file. */
    readonly jwks?: Secret
  }
  readonly login: LoginOptions
  readonly users: readonly User[]
  /** How long a person may take from the authorization request to the decision. Default 900. */
  readonly interactionLifetimeSec: number
  /** How many interactions there may be in which no person has signed in; as many requests that public clients have pushed. */
  readonly maxInteractions: number
  /** Absolute URLs for discovery, by what they serve; what no operation serves is absent and not named. */
  readonly endpoints: Readonly<Partial<Record<Endpoint, string>>>
  /** What tokens may be asked for (RFC 8707) and what the gateway guards (RFC 9728). */
  readonly resources: readonly ProtectedResource[]
  /** Whether clients can present certificates at all: by TLS here, or through trusted proxies. */
  readonly takesClientCertificates: boolean
}

/**
 * What scopes mean for people, by scope and then by language (RFC 5646; `und` where the configuration names none): shown on
 * the consent page, and handed to the operator's login. At least one text for each scope that is in it.
 */
export type ScopeTexts = ReadonlyMap<string, Readonly<Record<string, string>>>

export const profiles = ['none', 'fapi2'] as const
export type Profile = (typeof profiles)[number]

export type LoginOptions =
  /** Our own pages. */
  | { readonly mode: 'embedded' }
  /** The operator's own login at `url`, which answers over the private listener. */
  | { readonly mode: 'handoff'; readonly url: string }

/** One API behind the gateway, or a resource that a client introspects for. */
export interface ProtectedResource {
  /** Its identifier: what stands in `aud`. */
  readonly resource: string
  /** Scopes that its operations ask for. */
  readonly scopes: readonly string[]
  /** For people. */
  readonly name: string
  /** Where its metadata are served: the path from the origin (RFC 9728 section 3.1). Left out: it is not ours to describe. */
  readonly metadataPath?: string
}

export type Endpoint = 'token' | 'introspect' | 'revoke' | 'authorize' | 'par' | 'jwks'

/** A registered client, by its RFC 7591 names. */
export interface ClientRegistration {
  readonly client_id: string
  readonly client_name: string
  readonly profile: Profile
  /** Every secret that may still be presented, the current one first. Empty for clients that use none. */
  readonly secrets: readonly ClientSecret[]
  readonly grant_types: readonly GrantType[]
  readonly redirect_uris: readonly string[]
  /** The scopes it is registered for, in the order of the configuration. */
  readonly scope: readonly string[]
  readonly token_endpoint_auth_method: ClientAuthMethod
  /** The one algorithm of its assertions; left out: any of ES256, PS256, EdDSA that fits its keys. */
  readonly token_endpoint_auth_signing_alg?: SigningAlg
  /** `endpoint`: an assertion's `aud` may also be the URL of the endpoint it is sent to. */
  readonly assertion_audience: 'issuer' | 'endpoint'
  /** Its public keys, for assertions, request objects and self-signed certificates (`x5c`). */
  readonly keys?: ClientKeys
  /** What its certificate must say, for `tls_client_auth` (RFC 8705 section 2.1.2). */
  readonly certificateName?: CertificateName
  /** Its access tokens are bound to its certificate (RFC 8705 section 3.4). */
  readonly tls_client_certificate_bound_access_tokens: boolean
  /** It must send DPoP proofs (RFC 9449 section 5.2). */
  readonly dpop_bound_access_tokens: boolean
  /** RFC 9126 section 6. */
  readonly require_pushed_authorization_requests: boolean
  /** RFC 9101 section 10.5. */
  readonly require_signed_request_object: boolean
  /** The one algorithm of its request objects; left out: any of ES256, PS256, EdDSA that fits its keys. */
  readonly request_object_signing_alg?: SigningAlg
  /** RFC 9701 section 6. */
  readonly introspection_signed_response_alg: SigningAlg
  /** What JWT access tokens issued to it are signed with; RS256 for old clients. */
  readonly access_token_signed_response_alg: SigningAlg
  readonly application_type: 'web' | 'native'
  readonly pkce: 'required' | 'optional'
  /** Whether a sign-in ends only in the browser that began it. False: the user may return in another, as from an app on a phone. */
  readonly bindToBrowser: boolean
  /** Whose tokens it may introspect: those issued to it, all, or those for these resources. */
  readonly introspects: 'own' | 'all' | readonly string[]
  /** Name of its plan. */
  readonly plan: string
}

/** The secret itself (`client_secret`), or its stored form (`client_secret_hash`). */
export interface ClientSecret {
  readonly kind: 'plain' | 'hash'
  readonly value: Secret
  /** Refused from this instant on: the end of a rotation's overlap. Left out: no end. */
  readonly untilMs?: number
}

export type ClientKeys =
  | { readonly kind: 'jwks'; readonly jwks: JwkSet }
  /** Fetched when needed, with limits, and cached. */
  | { readonly kind: 'uri'; readonly uri: string }

/** RFC 7517 section 5. */
export interface JwkSet {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

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

/** Whether the client proves itself at all (RFC 6749 section 2.1). */
export const isConfidential = (client: Pick<ClientRegistration, 'token_endpoint_auth_method'>): boolean =>
  client.token_endpoint_auth_method !== 'none'

/** Whether the client keeps to the FAPI 2.0 Security Profile, by its own word or by the word for all. */
export const isFapiClient = (
  client: Pick<ClientRegistration, 'profile'>,
  all: Pick<OAuthOptions, 'profile'>,
): boolean => client.profile === 'fapi2' || all.profile === 'fapi2'

/** A person who may sign in on the embedded pages. */
export interface User {
  readonly username: string
  /** What `sidegate hash` printed. */
  readonly password_hash: Secret
  /** Left out: an opaque stable one is derived. Never equal to a client_id (checked by the configuration). */
  readonly sub?: string
}
