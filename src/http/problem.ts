import { type GatewayErrorCode, gatewayErrors } from '../errors.ts'
import type { Reply } from './reply.ts'

/** What an error may say beyond its catalogue entry. */
export interface ProblemFacts {
  /** Names and values in turn, e.g. Allow, Retry-After, WWW-Authenticate. */
  readonly headers?: readonly string[]
  /** Further members of the document (RFC 9457 section 3.2). */
  readonly members?: Readonly<Record<string, unknown>>
}

/** An error as RFC 9457 `application/problem+json`. A malformed request also ends its connection. */
export const problemReply = (code: GatewayErrorCode, requestId: string, facts: ProblemFacts = {}): Reply => {
  const { status, title, detail } = gatewayErrors[code]
  const body = { type: 'about:blank', title, status, detail, code, request_id: requestId, ...facts.members }
  return {
    status,
    headers: ['content-type', 'application/problem+json', 'cache-control', 'no-store', ...(facts.headers ?? [])],
    body: JSON.stringify(body),
    close: status === 400 || status === 408 || status === 413 || status === 431,
  }
}
