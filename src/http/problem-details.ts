import { type GatewayErrorCode, gatewayErrors } from '../errors.ts'
import type { Reply } from './reply.ts'

/** The parts of an error response that its catalogue entry does not have. */
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
    body: `${prefixes[code]}${requestId}"${more}`,
    close: status === 400 || status === 408 || status === 413 || status === 431,
  }
}

const commonHeaders: readonly string[] = ['content-type', 'application/problem+json', 'cache-control', 'no-store']

/**
 * The part of the document that is the same for every request. It is created once, because a client above its plan gets
 * thousands of these responses.
 */
const prefixOf = (code: GatewayErrorCode): string => {
  const { status, title, detail } = gatewayErrors[code]
  const document = JSON.stringify({ type: 'about:blank', title, status, detail, code, request_id: '' })
  return document.slice(0, -'"}'.length)
}

const codes = Object.keys(gatewayErrors) as readonly GatewayErrorCode[]
const prefixes = Object.fromEntries(codes.map(code => [code, prefixOf(code)])) as Readonly<
  Record<GatewayErrorCode, string>
>
