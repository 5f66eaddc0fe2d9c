import type { X509Certificate } from 'node:crypto'
import type { ClientAuthFailureReason } from '../errors.ts'

/** What goes into and out of the authorization server: values, no sockets. `gateway/` translates from and to HTTP. */

/** One HTTP request as the authorization server sees it; raw texts, parsed once by `form.ts`. */
export interface OAuthRequest {
  readonly method: string
  /** Without the query string. */
  readonly path: string
  /** The raw query string without `?`; empty where there is none. */
  readonly query: string
  /** The raw body, UTF-8 decoded; empty where there is none. */
  readonly body: string
  readonly contentType: string | undefined
  /** Every `Authorization` line, in order. */
  readonly authorization: readonly string[]
  readonly cookie: string | undefined
  readonly accept: string | undefined
  /** For the language of our pages. */
  readonly acceptLanguage: string | undefined
  /** `Origin` and `Sec-Fetch-Site` of the request: whose page sent a form to our pages. */
  readonly origin: string | undefined
  readonly fetchSite: string | undefined
  /** The client's address, proxies resolved. */
  readonly address: string
  /** Every `DPoP` line, in order (RFC 9449 section 4.1). */
  readonly dpop: readonly string[]
  /** The certificate that the client holds, by TLS or by the word of a trusted proxy; undefined: none. */
  readonly clientCertificate: ClientCertificate | undefined
}

export interface ClientCertificate {
  readonly certificate: X509Certificate
  /** Whether a CA that the operator named vouches for it. A self-signed one proves possession of its key alone. */
  readonly isChainVerified: boolean
}

/** One HTTP answer. `body` is an object (answered as JSON), or text with its own content type in `headers`. */
export interface OAuthReply {
  readonly status: number
  /** Lower-case names. `cache-control: no-store` is set by the authorization server itself where the RFCs ask for it. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: Readonly<Record<string, unknown>> | string | undefined
  /** Facts for metrics and audit lines; never sent. */
  readonly facts?: OAuthFacts
}

export interface OAuthFacts {
  readonly client_id?: string
  readonly issued?: IssuedToken
  readonly revoked?: RevokedToken
  readonly introspection?: 'active' | 'inactive'
  /** What became of a person's way through sign-in and consent. */
  readonly interaction?: InteractionOutcome
  /** How many older records were removed, because strangers had left more than `maxInteractions`. */
  readonly shed?: { readonly kind: 'interaction' | 'pushed_request'; readonly count: number }
  readonly signIn?: SignIn
  /** Of a person's consent: who it was, if it is known, and what was agreed to. */
  readonly sub?: string | undefined
  readonly scope?: string | undefined
  /** The code of an error that was answered without being thrown (a redirect, a page). */
  readonly error?: string
  /** Why what a client signed was not taken. */
  readonly proofFault?: ClientAuthFailureReason | undefined
}

/** What an access token says of itself; nothing that opens anything. */
export interface IssuedToken {
  readonly grant_type: GrantType
  readonly format: AccessTokenFormat
  readonly sub: string
  readonly scope: string
  readonly jti: string
}

/** What a client gave back; with a refresh token all of its grant ends. */
export interface RevokedToken {
  readonly reason: 'access_token' | 'refresh_token'
  readonly sub?: string
  readonly jti?: string
}

/** What became of a password; `blocked`: it was wrong once too often. */
export type SignIn =
  | { readonly outcome: 'done'; readonly sub: string }
  /** Without `sub`: there is nobody of that name. */
  | { readonly outcome: 'refused' | 'blocked'; readonly sub: string | undefined }

/** `expired`: somebody came back too late. */
export type InteractionOutcome = 'started' | 'accepted' | 'rejected' | 'expired'

/** Signature algorithms (RFC 7518 section 3.1, RFC 8037 section 3.1); never `none`, never a symmetric one. */
export const signingAlgs = ['ES256', 'PS256', 'EdDSA', 'RS256'] as const
export type SigningAlg = (typeof signingAlgs)[number]

/** What FAPI 2.0 Security Profile section 5.4.1 allows. RS256 is for old clients, by name. */
export const strongSigningAlgs = ['ES256', 'PS256', 'EdDSA'] as const satisfies readonly SigningAlg[]
export type StrongSigningAlg = (typeof strongSigningAlgs)[number]

export const grantTypes = ['client_credentials', 'authorization_code', 'refresh_token'] as const
export type GrantType = (typeof grantTypes)[number]

export type AccessTokenFormat = 'jwt' | 'opaque'
