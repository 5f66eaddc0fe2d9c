/**
 * Every error that Sidegate answers with, in one catalogue. The sentences may be read by any client: they repeat no
 * input and contain no secret. The facts for an operator go into `cause` and the log.
 */

/**
 * The error codes of RFC 6749 sections 4.1.2.1 and 5.2, RFC 6750 section 3.1, RFC 7009 section 2.2.1, RFC 9101 section
 * 8, RFC 9449 sections 5 and 8, and Sidegate's own code for an exceeded plan.
 */
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
 * Why the authentication of a client, or a JWT that it signed, was refused. Only the operator sees this: the response
 * to each refused client is the same (RFC 6749 section 5.2).
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
  /** The status if it differs from the one of the code (405, 413, 408 on an OAuth operation). */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
  /** Never sent to the client, and neither are the members below. */
  readonly proofFault?: ClientAuthFailureReason | undefined
  /** The client whose authentication failed, if a client of that id exists. */
  readonly client_id?: string | undefined
  readonly reuse?: Reuse
}

/** A single-use value was used a second time. */
export interface Reuse {
  readonly of: 'code' | 'refresh_token'
  /** The subject of the value, if it is known. */
  readonly sub?: string
}

/** A refusal by the authorization server. Thrown inside `oauth/`, and converted to JSON in one place. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly code: OAuthErrorCode
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly proofFault: ClientAuthFailureReason | undefined
  readonly client_id: string | undefined
  readonly reuse: Reuse | undefined
  /** @param description sent to the client: %x20-21 / %x23-5B / %x5D-7E only. It never repeats the input. */
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
  /** The reason phrase of the status, which RFC 9457 section 4.2.1 requires for `about:blank`. */
  readonly title: string
  readonly detail: string
}

/** Errors of the gateway, sent as problem documents of RFC 9457. */
export const gatewayErrors = {
  BAD_REQUEST: {
    status: 400,
    title: 'Bad Request',
    detail: 'The request is not well-formed HTTP, or its target is ambiguous.',
  },
  CREDENTIAL_MALFORMED: {
    status: 400,
    title: 'Bad Request',
    detail: 'The credentials were sent twice, in two places, or not in the form of RFC 6750.',
  },
  BODY_INVALID: {
    status: 400,
    title: 'Bad Request',
    detail: 'The body is not valid for this operation; reason has the fault.',
  },
  FORWARD_AUTH_REQUEST_INVALID: {
    status: 400,
    title: 'Bad Request',
    detail: 'The forward-auth request does not identify the original request unambiguously; reason has the fault.',
  },
  CREDENTIAL_MISSING: { status: 401, title: 'Unauthorized', detail: 'This operation needs credentials.' },
  CREDENTIAL_INVALID: { status: 401, title: 'Unauthorized', detail: 'The credentials are wrong, expired or revoked.' },
  DPOP_PROOF_INVALID: {
    status: 401,
    title: 'Unauthorized',
    detail: 'The DPoP proof is not valid for this request, or lacks a fresh nonce; WWW-Authenticate has the error.',
  },
  SCOPE_INSUFFICIENT: {
    status: 403,
    title: 'Forbidden',
    detail: 'The access token does not have the scope that this operation requires.',
  },
  FORWARD_AUTH_CALLER_UNTRUSTED: {
    status: 403,
    title: 'Forbidden',
    detail: 'Only a trusted gateway may send forward-auth requests.',
  },
  NOT_FOUND: { status: 404, title: 'Not Found', detail: 'No operation is published at this path.' },
  INTERACTION_NOT_FOUND: {
    status: 404,
    title: 'Not Found',
    detail: 'There is no interaction with this id, or it has expired.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'Method Not Allowed',
    detail: 'The path exists, but not for this method; Allow lists the methods that it supports.',
  },
  REQUEST_TIMEOUT: { status: 408, title: 'Request Timeout', detail: 'The request did not arrive in time.' },
  DECISION_CONFLICT: {
    status: 409,
    title: 'Conflict',
    detail: 'The decision does not fit the state of the interaction, which has not changed; reason has the fault.',
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
    detail: 'This client has exceeded its plan; Retry-After has the time until it may send the next request.',
  },
  TOO_MANY_FAILURES: {
    status: 429,
    title: 'Too Many Requests',
    detail: 'Too many failed authentications from this address; Retry-After has the time until the next attempt.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: 'Request Header Fields Too Large',
    detail: 'The request header is too large or has too many fields.',
  },
  INTERNAL: {
    status: 500,
    title: 'Internal Server Error',
    detail: 'Sidegate failed to handle this request; its log has the cause under this request id.',
  },
  NOT_IMPLEMENTED: {
    status: 501,
    title: 'Not Implemented',
    detail: 'This method or transfer coding is not supported.',
  },
  UPSTREAM_UNREACHABLE: {
    status: 502,
    title: 'Bad Gateway',
    detail: 'The service behind this operation could not be reached, or closed the connection before it answered.',
  },
  UPSTREAM_RESPONSE_INVALID: {
    status: 502,
    title: 'Bad Gateway',
    detail: 'The service behind this operation did not send a valid HTTP response.',
  },
  STORE_UNAVAILABLE: {
    status: 503,
    title: 'Service Unavailable',
    detail: 'The store is unavailable; Retry-After has the time until the next attempt.',
  },
  RATE_LIMITER_UNAVAILABLE: {
    status: 503,
    title: 'Service Unavailable',
    detail: 'The plan limit cannot be checked now, and this plan is configured to refuse requests in that case.',
  },
  UPSTREAM_BUSY: {
    status: 503,
    title: 'Service Unavailable',
    detail: 'The service behind this operation has too many requests; Retry-After has the time until the next attempt.',
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
