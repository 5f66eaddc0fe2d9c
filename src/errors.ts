/**
 * Every error that Sidegate answers, in one catalogue. Sentences are fit for a stranger: they repeat no input and name
 * no secret. What an operator needs goes into `cause` and the log.
 */

/** The wire codes of RFC 6749 sections 4.1.2.1 and 5.2, RFC 6750 section 3.1, RFC 7009 section 2.2.1,
 * RFC 9101 section 8, RFC 9449 sections 5 and 8, and the plan's. */
export const oauthErrors = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  invalid_target: 400,
  invalid_dpop_proof: 400,
  use_dpop_nonce: 400,
  invalid_request_object: 400,
  invalid_request_uri: 400,
  request_uri_not_supported: 400,
  access_denied: 403,
  login_required: 400,
  server_error: 500,
  temporarily_unavailable: 503,
  rate_limit_exceeded: 429,
} as const satisfies Record<string, number>

export type OAuthErrorCode = keyof typeof oauthErrors

/**
 * Why a client's proof of itself, or a JWT that it signed, was not taken. For the operator alone: on the wire every refused
 * client reads the same (RFC 6749 section 5.2).
 */
export const proofFaults = [
  'unknown_client',
  'disabled',
  'auth_method_mismatch',
  'bad_secret',
  'malformed',
  'alg',
  'type',
  'wrong_jwt_type',
  'issuer',
  'subject',
  'audience',
  'expired',
  'nbf_in_future',
  'lifetime_too_long',
  'jti_missing',
  'jti_used',
  'key_unknown',
  'signature',
  'certificate_missing',
  'certificate_expired',
  'certificate_untrusted',
  'certificate_name',
  'certificate_key',
] as const
export type ClientAuthFailureReason = (typeof proofFaults)[number]

export interface OAuthErrorFacts {
  /** Status where it differs from the code's own (405, 413, 408 on an OAuth operation). */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
  /** Never sent, nor is what follows. */
  readonly proofFault?: ClientAuthFailureReason | undefined
  /** The client that did not prove itself, where there is one of that name. */
  readonly client_id?: string | undefined
  readonly reuse?: Reuse
}

/** Something came that was spent before. */
export interface Reuse {
  readonly of: 'code' | 'refresh_token'
  /** Whose it was, where that is known. */
  readonly sub?: string
}

/** A refusal by the authorization server. Thrown inside `oauth/`, turned into JSON in one place. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly code: OAuthErrorCode
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly proofFault: ClientAuthFailureReason | undefined
  readonly client_id: string | undefined
  readonly reuse: Reuse | undefined
  /** @param description shown to the caller: %x20-21 / %x23-5B / %x5D-7E only, and never repeats its input. */
  constructor(code: OAuthErrorCode, description: string, facts: OAuthErrorFacts = {}) {
    super(description, { cause: facts.cause })
    this.code = code
    this.status = facts.status ?? oauthErrors[code]
    this.headers = facts.headers ?? {}
    this.proofFault = facts.proofFault
    this.client_id = facts.client_id
    this.reuse = facts.reuse
  }
}

interface GatewayErrorEntry {
  readonly status: number
  /** The phrase of the status, as RFC 9457 section 4.2.1 wants it beside `about:blank`. */
  readonly title: string
  readonly detail: string
}

/** Refusals of the gateway, answered as RFC 9457 problem documents. */
export const gatewayErrors = {
  BAD_REQUEST: {
    status: 400,
    title: 'Bad Request',
    detail: 'The request is not well-formed HTTP, or its target cannot be read in one way only.',
  },
  CREDENTIAL_MALFORMED: {
    status: 400,
    title: 'Bad Request',
    detail: 'Credentials were sent twice, in two places, or not in the form of RFC 6750.',
  },
  BODY_INVALID: {
    status: 400,
    title: 'Bad Request',
    detail: 'The body is not what this operation takes; reason says why.',
  },
  FORWARD_AUTH_REQUEST_INVALID: {
    status: 400,
    title: 'Bad Request',
    detail: 'The gateway that asks does not say in one way which request it asks about; reason says why.',
  },
  CREDENTIAL_MISSING: { status: 401, title: 'Unauthorized', detail: 'This operation needs credentials.' },
  CREDENTIAL_INVALID: { status: 401, title: 'Unauthorized', detail: 'The credentials are wrong, expired or revoked.' },
  DPOP_PROOF_INVALID: {
    status: 401,
    title: 'Unauthorized',
    detail: 'The DPoP proof is not good for this request, or lacks a fresh nonce; WWW-Authenticate says which.',
  },
  SCOPE_INSUFFICIENT: {
    status: 403,
    title: 'Forbidden',
    detail: 'The access token does not carry the scope that this operation needs.',
  },
  FORWARD_AUTH_CALLER_UNTRUSTED: {
    status: 403,
    title: 'Forbidden',
    detail: 'Only a gateway that is trusted here may ask whether a request may pass.',
  },
  NOT_FOUND: { status: 404, title: 'Not Found', detail: 'No operation is published at this path.' },
  INTERACTION_NOT_FOUND: {
    status: 404,
    title: 'Not Found',
    detail: 'No interaction is open under this id: it has expired, or there never was one.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'Method Not Allowed',
    detail: 'The path exists, but not for this method; Allow names those it has.',
  },
  REQUEST_TIMEOUT: { status: 408, title: 'Request Timeout', detail: 'The request did not arrive in time.' },
  DECISION_CONFLICT: {
    status: 409,
    title: 'Conflict',
    detail: 'The decision does not fit the interaction, and nothing has changed; reason says why.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    title: 'Content Too Large',
    detail: 'The body is larger than this operation accepts.',
  },
  MEDIA_TYPE_UNSUPPORTED: {
    status: 415,
    title: 'Unsupported Media Type',
    detail: 'The body must be application/json.',
  },
  EXPECTATION_FAILED: { status: 417, title: 'Expectation Failed', detail: 'Only Expect: 100-continue is understood.' },
  PLAN_EXCEEDED: {
    status: 429,
    title: 'Too Many Requests',
    detail: 'The plan of this client is used up for now; Retry-After says for how long.',
  },
  TOO_MANY_FAILURES: {
    status: 429,
    title: 'Too Many Requests',
    detail: 'Too many failed credentials from this address; Retry-After says for how long.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: 'Request Header Fields Too Large',
    detail: 'The request header is too large or has too many fields.',
  },
  INTERNAL: {
    status: 500,
    title: 'Internal Server Error',
    detail: 'Sidegate failed to handle this request; the log has the reason under this request id.',
  },
  NOT_IMPLEMENTED: {
    status: 501,
    title: 'Not Implemented',
    detail: 'This method or transfer coding is not supported.',
  },
  UPSTREAM_UNREACHABLE: {
    status: 502,
    title: 'Bad Gateway',
    detail: 'The service behind this operation could not be reached, or broke off before it answered.',
  },
  UPSTREAM_RESPONSE_INVALID: {
    status: 502,
    title: 'Bad Gateway',
    detail: 'The service behind this operation answered with something that is not HTTP.',
  },
  STORE_UNAVAILABLE: {
    status: 503,
    title: 'Service Unavailable',
    detail: 'The store is unavailable; Retry-After says when to come back.',
  },
  RATE_LIMITER_UNAVAILABLE: {
    status: 503,
    title: 'Service Unavailable',
    detail: 'The plan limit cannot be decided now, and this plan refuses rather than guesses.',
  },
  UPSTREAM_BUSY: {
    status: 503,
    title: 'Service Unavailable',
    detail: 'The service behind this operation has no room for another request; Retry-After says when to come back.',
  },
  UPSTREAM_TIMEOUT: {
    status: 504,
    title: 'Gateway Timeout',
    detail: 'The service behind this operation did not answer in time.',
  },
} as const satisfies Record<string, GatewayErrorEntry>

export type GatewayErrorCode = keyof typeof gatewayErrors

/** The message of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The first line of the message of whatever was thrown. */
export const firstLineOf = (error: unknown): string => messageOf(error).split('\n', 1)[0] ?? ''
