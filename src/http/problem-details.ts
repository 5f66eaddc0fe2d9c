import { type GatewayErrorCode, gatewayErrors } from '../errors.ts'
import type { Reply } from './reply.ts'

/** What an error may say beyond its catalogue entry. */
export interface ProblemDetails {
  /** Names and values in turn, e.g. Allow, Retry-After, WWW-Authenticate. */
  readonly headers?: readonly string[]
  /** Further members of the document (RFC 9457 section 3.2). */
  readonly members?: Readonly<Record<string, unknown>>
}

/**
 * An error as RFC 9457 `application/problem+json`. A malformed request also ends its connection.
 * @param requestId without characters that JSON escapes
 */
export const problemReply = (code: GatewayErrorCode, requestId: string, facts: ProblemDetails = {}): Reply => {
  const { status } = gatewayErrors[code]
  const more = facts.members ? `,${JSON.stringify(facts.members).slice(1)}` : '}'
  return {
    status,
    headers: facts.headers ? [...commonHeaders, ...facts.headers] : commonHeaders,
    body: `${beginnings[code]}${requestId}"${more}`,
    close: status === 400 || status === 408 || status === 413 || status === 431,
  }
}

const commonHeaders: readonly string[] = ['content-type', 'application/problem+json', 'cache-control', 'no-store']

/** The same for every request: a client far over its plan gets thousands of them. */
const beginningOf = (code: GatewayErrorCode): string => {
  const { status, title, detail } = gatewayErrors[code]
  const document = JSON.stringify({ type: 'about:blank', title, status, detail, code, request_id: '' })
  return document.slice(0, -'"}'.length)
}

const codes = Object.keys(gatewayErrors) as readonly GatewayErrorCode[]
const beginnings = Object.fromEntries(codes.map(code => [code, beginningOf(code)])) as Readonly<
  Record<GatewayErrorCode, string>
>
