import { type GatewayErrorCode, gatewayErrors, OAuthError, type OAuthErrorCode } from '../errors.ts'
import { type ProblemDetails, problemReply } from '../http/problem-details.ts'
import type { Reply } from '../http/reply.ts'
import { fieldValues } from '../http/server/request-parser.ts'
import { StoreUnavailableError } from '../stores/ports/store-unavailable.ts'
import type { Exchange } from './exchange.ts'
import { toReply } from './oauth-reply.ts'

/** Seconds after which a caller may try again when the store or an upstream cannot serve it. */
const retryAfterSec = 1

/** The OAuth error in place of a gateway code: OAuth operations answer with the JSON of RFC 6749. */
const oauthWords: Readonly<Partial<Record<GatewayErrorCode, OAuthErrorCode>>> = {
  BAD_REQUEST: 'invalid_request',
  CREDENTIAL_MALFORMED: 'invalid_request',
  METHOD_NOT_ALLOWED: 'invalid_request',
  REQUEST_TIMEOUT: 'invalid_request',
  BODY_TOO_LARGE: 'invalid_request',
  EXPECTATION_FAILED: 'invalid_request',
  PLAN_EXCEEDED: 'rate_limit_exceeded',
  TOO_MANY_FAILURES: 'rate_limit_exceeded',
  INTERNAL: 'server_error',
  STORE_UNAVAILABLE: 'temporarily_unavailable',
  RATE_LIMITER_UNAVAILABLE: 'temporarily_unavailable',
}

/**
 * An error response in the format of the operation: RFC 6749 JSON or a page for OAuth operations, RFC 9457 for all
 * others.
 */
export const refuse = (exchange: Exchange, code: GatewayErrorCode, facts: ProblemDetails = {}): Reply => {
  const word = exchange.operation?.speaksOAuth ? oauthWords[code] : undefined
  if (word === undefined) return problemReply(code, exchange.context.id, facts)
  const { status, detail } = gatewayErrors[code]
  return oauthReply(exchange, word, detail, status, facts)
}

/**
 * The response for an error that a step threw. Only an OAuthError and a failed store are expected. Everything else is a
 * bug: 500.
 */
export const refuseError = (exchange: Exchange, error: unknown): Reply => {
  if (error instanceof OAuthError) {
    exchange.proofFault = error.proofFault
    const headers = Object.entries(error.headers).flat()
    if (exchange.operation?.speaksOAuth === false) return refuse(exchange, gatewayWord(error.code), { headers })
    return oauthReply(exchange, error.code, error.message, error.status, { headers })
  }
  if (error instanceof StoreUnavailableError) {
    return refuse(exchange, 'STORE_UNAVAILABLE', { headers: ['retry-after', String(retryAfterSec)] })
  }
  return refuse(exchange, 'INTERNAL')
}

/** The response if the upstream has no room for a request. */
export const refuseOverload = (exchange: Exchange): Reply =>
  refuse(exchange, 'UPSTREAM_BUSY', { headers: ['retry-after', String(retryAfterSec)] })

/** The body of API Connect's response above the rate limit. */
const apiConnectMembers = { httpCode: '429', httpMessage: 'Too Many Requests', moreInformation: 'Rate Limit exceeded' }

/**
 * The response for a plan that is used up, as clients of API Connect expect it. OAuth operations add the same members
 * to their JSON: RFC 6749 section 5.2 allows further members.
 */
export const refuseAsApiConnect = (exchange: Exchange, headers: readonly string[]): Reply => {
  if (exchange.operation?.speaksOAuth) return refuse(exchange, 'PLAN_EXCEEDED', { headers, members: apiConnectMembers })
  return {
    status: 429,
    headers: ['content-type', 'application/json', 'cache-control', 'no-store', ...headers],
    body: JSON.stringify(apiConnectMembers),
  }
}

/** The gateway code of a forwarded operation if the authorization server refused the client's proof. */
const gatewayWord = (code: OAuthErrorCode): GatewayErrorCode => {
  switch (code) {
    case 'invalid_client':
      return 'CREDENTIAL_INVALID'
    case 'rate_limit_exceeded':
      return 'TOO_MANY_FAILURES'
    default:
      return 'CREDENTIAL_MALFORMED'
  }
}

/**
 * The error as RFC 6749 section 5.2 defines it, always with `no-store` (section 5.1), or as a page if a browser sent
 * the request (RFC 9700 section 4.16).
 */
const oauthReply = (
  exchange: Exchange,
  error: OAuthErrorCode,
  description: string,
  status: number,
  facts: ProblemDetails,
): Reply => {
  const { operation, context } = exchange
  operation?.meter.oauthError(error)
  const page = prefersJson(context.fields.accept) ? undefined : operation?.refusalPage
  const reply = page
    ? toReply(
        page({
          status,
          description,
          requestId: context.id,
          acceptLanguage: fieldValues(context.request.head, 'accept-language')[0],
        }),
      )
    : jsonReply(status, error, description, facts.members)
  return { ...reply, headers: [...reply.headers, ...(facts.headers ?? [])], close: status === 408 || status === 413 }
}

const jsonReply = (
  status: number,
  error: OAuthErrorCode,
  description: string,
  members: ProblemDetails['members'],
): Reply => ({
  status,
  headers: ['content-type', 'application/json', 'cache-control', 'no-store'],
  body: JSON.stringify({ error, error_description: description.replace(/["\\]/g, "'"), ...members }),
})

/**
 * Whether a program sent the request to an operation for browsers. A request without an Accept field counts as a
 * browser's.
 */
const prefersJson = (accept = ''): boolean => /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept)
