import type { Secret } from '../secret.ts'
import type { AccessTokenFormat, GrantType } from './wire.ts'

/** Everything the authorization server is told. All members are present; the configuration has filled in defaults. */
export interface OAuthOptions {
  /** Byte-equal to every `iss`; never taken from a request. */
  readonly issuer: string
  readonly clients: readonly ClientRegistration[]
  readonly accessToken: {
    readonly format: AccessTokenFormat
    readonly lifetimeSec: number
    readonly alg: 'ES256'
  }
  readonly refreshToken: {
    readonly lifetimeSec: number
    /** How long after a rotation the token before it still yields the same successor. */
    readonly reuseWindowSec: number
  }
  readonly code: { readonly lifetimeSec: number }
  readonly users: readonly User[]
  /** How long a person may take from the authorization request to the decision. Default 900. */
  readonly interactionLifetimeSec: number
  /** Absolute URLs for discovery, by what they serve; what no operation serves is absent and not named. */
  readonly endpoints: Readonly<Partial<Record<Endpoint, string>>>
}

export type Endpoint = 'token' | 'introspect' | 'revoke' | 'authorize' | 'jwks'

/** A registered client, by its RFC 7591 names. */
export interface ClientRegistration {
  readonly client_id: string
  readonly client_name: string
  /** The secret itself (`client_secret`), or its stored form (`client_secret_hash`). Absent for public clients. */
  readonly secret?: { readonly kind: 'plain' | 'hash'; readonly value: Secret }
  readonly grant_types: readonly GrantType[]
  readonly redirect_uris: readonly string[]
  /** The scopes it is registered for, in the order of the configuration. */
  readonly scope: readonly string[]
  readonly token_endpoint_auth_method: ClientAuthMethod
  readonly application_type: 'web' | 'native'
  readonly pkce: 'required' | 'optional'
  /** Whose tokens it may introspect: those issued to it, all, or those for these resources. */
  readonly introspects: 'own' | 'all' | readonly string[]
  /** Name of its plan. */
  readonly plan: string
}

export const clientAuthMethods = ['client_secret_basic', 'client_secret_post', 'none'] as const
export type ClientAuthMethod = (typeof clientAuthMethods)[number]

/** A person who may sign in on the embedded pages. */
export interface User {
  readonly username: string
  /** What `sidegate hash` printed. */
  readonly password_hash: Secret
  /** Left out: an opaque stable one is derived. Never equal to a client_id (checked by the configuration). */
  readonly sub?: string
}
