import type { Secret } from '../secret.ts'
import type { Clients } from './clients/configured-clients.ts'
import type { Profile } from './clients/metadata.ts'
import type { AccessTokenFormat, StrongSigningAlg } from './protocol.ts'

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

/** A person who may sign in on the embedded pages. */
export interface User {
  readonly username: string
  /** What `sidegate hash` printed. */
  readonly password_hash: Secret
  /** Left out: an opaque stable one is derived. Never equal to a client_id (checked by the configuration). */
  readonly sub?: string
}
