import type { X509Certificate } from 'node:crypto'
import type { ClientAuthFailureReason } from '../errors.ts'

/**
 * The requests and responses of the authorization server: values, no sockets. `gateway/` translates from and to HTTP.
 */

/** One HTTP request as the authorization server receives it. The texts are raw; `form.ts` parses them once. */
export interface OAuthRequest {
  readonly method: string
  /** Without the query string. */
  readonly path: string
  /** The raw query string without `?`; may be empty. */
  readonly query: string
  /** The raw body, decoded as UTF-8; may be empty. */
  readonly body: string
  readonly contentType: string | undefined
  /** Every `Authorization` header, in order. */
  readonly authorization: readonly string[]
  readonly cookie: string | undefined
  readonly accept: string | undefined
  /** Determines the language of our pages. */
  readonly acceptLanguage: string | undefined
  /** `Origin` and `Sec-Fetch-Site` of the request: the site whose page sent a form to our pages. */
  readonly origin: string | undefined
  readonly fetchSite: string | undefined
  /** The client's address, behind trusted proxies. */
  readonly address: string
  /** Every `DPoP` header, in order (RFC 9449 section 4.1). */
  readonly dpop: readonly string[]
  /** The client's certificate, from TLS or from a trusted proxy; undefined: none was presented. */
  readonly clientCertificate: ClientCertificate | undefined
}

export interface ClientCertificate {
  readonly certificate: X509Certificate
  /**
   * Whether a CA of the operator's choice has signed it. A self-signed certificate proves only the possession of its
   * key.
   */
  readonly isChainVerified: boolean
}

/** One HTTP response. `body` is an object (sent as JSON), or text with its own content type in `headers`. */
export interface OAuthReply {
  readonly status: number
  /** Lowercase names. The authorization server itself sets `cache-control: no-store` wherever the RFCs require it. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: Readonly<Record<string, unknown>> | string | undefined
  /** Facts for metrics and audit log lines; never sent. */
  readonly facts?: OAuthFacts
}

export interface OAuthFacts {
  readonly client_id?: string
  readonly issued?: IssuedToken
  readonly revoked?: RevokedToken
  readonly introspection?: 'active' | 'inactive'
  /** The outcome of an interaction, from sign-in to consent. */
  readonly interaction?: InteractionOutcome
  /** How many older records were removed because unauthenticated callers had created more than `maxInteractions`. */
  readonly shed?: { readonly kind: 'interaction' | 'pushed_request'; readonly count: number }
  readonly signIn?: SignIn
  /** Of a user's consent: the user, if known, and the scopes that were agreed to. */
  readonly sub?: string | undefined
  readonly scope?: string | undefined
  /** The code of an error that was sent without an exception (in a redirect or on a page). */
  readonly error?: string
  /** The reason why a proof or JWT of the client was refused. */
  readonly proofFault?: ClientAuthFailureReason | undefined
}

/** The contents of an access token, without anything that grants access. */
export interface IssuedToken {
  readonly grant_type: GrantType
  readonly format: AccessTokenFormat
  readonly sub: string
  readonly scope: string
  readonly jti: string
}

/** A token that a client revoked. A refresh token ends its whole grant. */
export interface RevokedToken {
  readonly reason: 'access_token' | 'refresh_token'
  readonly sub?: string
  readonly jti?: string
}

/** The outcome of a password check. `blocked`: this failure exceeded the limit. */
export type SignIn =
  | { readonly outcome: 'done'; readonly sub: string }
  /** Without `sub`: no user has that name. */
  | { readonly outcome: 'refused' | 'blocked'; readonly sub: string | undefined }

/** `expired`: the user came back too late. */
export type InteractionOutcome = 'started' | 'accepted' | 'rejected' | 'expired'

/** Signature algorithms (RFC 7518 section 3.1, RFC 8037 section 3.1); never `none`, never a symmetric one. */
export const signingAlgs = ['ES256', 'PS256', 'EdDSA', 'RS256'] as const
export type SigningAlg = (typeof signingAlgs)[number]

/**
 * The algorithms that FAPI 2.0 Security Profile section 5.4.1 allows. RS256 is for old clients that are registered
 * for it.
 */
export const strongSigningAlgs = ['ES256', 'PS256', 'EdDSA'] as const satisfies readonly SigningAlg[]
export type StrongSigningAlg = (typeof strongSigningAlgs)[number]

export const grantTypes = ['client_credentials', 'authorization_code', 'refresh_token'] as const
export type GrantType = (typeof grantTypes)[number]

export type AccessTokenFormat = 'jwt' | 'opaque'
