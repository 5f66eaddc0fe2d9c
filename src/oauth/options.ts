import type { Secret } from '../secret.ts'
import type { Clients } from './clients/configured-clients.ts'
import type { Profile } from './clients/metadata.ts'
import type { AccessTokenFormat, StrongSigningAlg } from './protocol.ts'

/** The options of the authorization server. All members are present; the configuration has filled in the defaults. */
export interface OAuthOptions {
  /** Byte-equal to every `iss`; never taken from a request. */
  readonly issuer: string
  /** `fapi2`: every client must follow that profile, whatever its own registration is. */
  readonly profile: Profile
  /** The clients of the configuration; the store may have more. */
  readonly clients: Clients
  readonly scopeTexts: ScopeTexts
  readonly accessToken: {
    readonly format: AccessTokenFormat
    readonly lifetimeSec: number
    readonly alg: StrongSigningAlg
  }
  readonly refreshToken: {
    readonly lifetimeSec: number
    /** How long after a rotation the previous token still yields the same successor. */
    readonly reuseWindowSec: number
  }
  readonly code: { readonly lifetimeSec: number }
  /** Pushed authorization requests (RFC 9126). */
  readonly par: { readonly lifetimeSec: number }
  readonly dpop: {
    /**
     * `required`: a proof without a fresh nonce of this server gets the error `use_dpop_nonce` (RFC 9449 section 8).
     */
    readonly nonce: 'required' | 'optional'
  }
  readonly keys: {
    /** How long a signing key is used before its successor. */
    readonly rotateEverySec: number
    /** A private JWK set that signs instead of generated keys: the text of the operator's file. */
    readonly jwks?: Secret
  }
  readonly login: LoginOptions
  readonly users: readonly User[]
  /** How long a user may take from the authorization request to the decision. Default 900. */
  readonly interactionLifetimeSec: number
  /** The maximum number of interactions in which no user has signed in, and of pushed requests of public clients. */
  readonly maxInteractions: number
  /** Absolute URLs for discovery, by endpoint. An endpoint that no operation serves is absent and is not published. */
  readonly endpoints: Readonly<Partial<Record<Endpoint, string>>>
  /** The resources that tokens may be requested for (RFC 8707) and that the gateway protects (RFC 9728). */
  readonly resources: readonly ProtectedResource[]
  /** Whether clients can present certificates: over TLS here, or through trusted proxies. */
  readonly takesClientCertificates: boolean
}

/**
 * Descriptions of scopes for users, by scope and then by language (RFC 5646; `und` if the configuration names none).
 * The consent page shows them, and the operator's login application receives them. Each scope in the map has at least
 * one text.
 */
export type ScopeTexts = ReadonlyMap<string, Readonly<Record<string, string>>>

export type LoginOptions =
  /** Our own pages. */
  | { readonly mode: 'embedded' }
  /** The operator's own login application at `url`, which calls the private listener. */
  | { readonly mode: 'handoff'; readonly url: string }

/** One API behind the gateway, or a resource for which a client introspects tokens. */
export interface ProtectedResource {
  /** Its identifier: the value of `aud`. */
  readonly resource: string
  /** The scopes that its operations require. */
  readonly scopes: readonly string[]
  /** The name that users see. */
  readonly name: string
  /** The path of its metadata on the origin (RFC 9728 section 3.1). Left out: Sidegate does not serve its metadata. */
  readonly metadataPath?: string
}

export type Endpoint = 'token' | 'introspect' | 'revoke' | 'authorize' | 'par' | 'jwks'

/** A user of the embedded sign-in pages. */
export interface User {
  readonly username: string
  /** The output of `sidegate hash`. */
  readonly password_hash: Secret
  /** Left out: a stable opaque one is derived. Never equal to a client_id (the configuration checks that). */
  readonly sub?: string
}
