import { type GatewayErrorCode, gatewayErrors, OAuthError, type OAuthErrorCode } from '../errors.ts'
import { type ProblemFacts, problemReply } from '../http/problem.ts'
import type { Reply } from '../http/reply.ts'
import { StoreUnavailableError } from '../stores/ports.ts'
import type { Exchange } from './exchange.ts'

/** Seconds after which a caller may try again when the store is away. */
const storeRetryAfterSec = 1

/** What an OAuth operation says in place of a gateway code: its JSON speaks RFC 6749's words. */
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
  PLAN_UNDECIDED: 'temporarily_unavailable',
}

/** A refusal in the language of the operation: RFC 6749 JSON for OAuth operations, RFC 9457 for everything else. */
export const refuse = (exchange: Exchange, code: GatewayErrorCode, facts: ProblemFacts = {}): Reply => {
  const word = exchange.operation?.speaksOAuth ? oauthWords[code] : undefined
  if (word === undefined) return problemReply(code, exchange.context.id, facts)
  const { status, detail } = gatewayErrors[code]
  return oauthReply(exchange, word, detail, status, facts.headers ?? [])
}

/** What was thrown on the way, as an answer. Only OAuthError and a failed store are expected; all else is a bug: 500. */
export const refuseError = (exchange: Exchange, error: unknown): Reply => {
  if (error instanceof OAuthError) {
    const headers = Object.entries(error.headers).flat()
    return oauthReply(exchange, error.code, error.message, error.status, headers)
  }
  if (error instanceof StoreUnavailableError) {
    return refuse(exchange, 'STORE_UNAVAILABLE', { headers: ['retry-after', String(storeRetryAfterSec)] })
  }
  return refuse(exchange, 'INTERNAL')
}

/** RFC 6749 section 5.2, always with `no-store` (section 5.1). */
const oauthReply = (
  exchange: Exchange,
  error: OAuthErrorCode,
  error_description: string,
  status: number,
  headers: readonly string[],
): Reply => {
  exchange.operation?.meter.oauthError(error)
  return {
    status,
    headers: ['content-type', 'application/json', 'cache-control', 'no-store', ...headers],
    body: JSON.stringify({ error, error_description: error_description.replace(/["\\]/g, "'") }),
    close: status === 408 || status === 413,
  }
}
