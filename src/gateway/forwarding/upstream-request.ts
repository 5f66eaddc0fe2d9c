import type { UpstreamRequest } from '../../http/client/request.ts'
import { withoutCredentials } from '../authn/query-credentials.ts'
import type { Exchange } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import { toUpstreamHeaders } from './request-headers.ts'

/**
 * The request for the upstream: its request line, our Host, the fields that are passed on, and one way of framing its
 * body.
 */
export const toUpstreamRequest = (
  exchange: Exchange,
  operation: MeteredOperation,
  host: string,
  startedAtMs: number,
): UpstreamRequest => {
  const { method, request, fields } = exchange.context
  const isChunked = fields.transferEncoding !== undefined
  const framing = isChunked ? 'Transfer-Encoding: chunked\r\n' : lengthIfExpected(method, fields.contentLength)
  const path = upstreamPath(exchange, operation)
  return {
    method,
    head: `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${framing}${toUpstreamHeaders(exchange, operation)}\r\n`,
    body: request.body,
    isChunked,
    maxBodyBytes: operation.target.kind === 'forward' ? operation.target.maxBodyBytes : 0,
    startedAtMs,
  }
}

/**
 * The same for a WebSocket handshake, which has no body. The hop-by-hop fields of the handshake are added again (RFC
 * 6455 section 4.1).
 */
export const toUpgradeRequest = (exchange: Exchange, operation: MeteredOperation, host: string): string => {
  const path = upstreamPath(exchange, operation)
  const lines = toUpstreamHeaders(exchange, operation)
  return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${lines}\r\n`
}

/**
 * The path and query for the upstream: without the prefix if the operation strips it, and always without query
 * credentials.
 */
const upstreamPath = (exchange: Exchange, operation: MeteredOperation): string => {
  const { path = '/', query = '' } = exchange.target ?? {}
  const strip = operation.target.kind === 'forward' ? operation.target.stripPrefix : ''
  const rest = strip !== '' && path.startsWith(strip) ? path.slice(strip.length) : path
  const left = operation.credentials === 'query' ? withoutCredentials(query) : query
  const absolute = rest.startsWith('/') ? rest : `/${rest}`
  return left === '' ? absolute : `${absolute}?${left}`
}

/** Whether a body follows the header (RFC 9112 section 6.3). */
export const hasBody = ({ context }: Exchange): boolean => context.request.body !== undefined

/** Whether the request may be repeated: it has no body, and a repetition changes nothing. */
export const isRepeatable = (exchange: Exchange): boolean =>
  !hasBody(exchange) && idempotent.has(exchange.context.method)

/** The idempotent methods among the methods of operations (RFC 9110 section 9.2.2). */
const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/**
 * Whether the request declares a larger body than the operation accepts. The bytes of a chunked body are counted as
 * they arrive.
 */
export const declaresTooMuch = ({ context: { fields } }: Exchange, { target }: MeteredOperation): boolean =>
  fields.contentLength !== undefined && target.kind === 'forward' && Number(fields.contentLength) > target.maxBodyBytes

/**
 * Without a Content-Length some servers wait for a body or answer 411 if the method usually has one (RFC 9110 section
 * 8.6).
 */
const lengthIfExpected = (method: string, declared: string | undefined): string =>
  declared === undefined && (method === 'POST' || method === 'PUT' || method === 'PATCH') ? 'Content-Length: 0\r\n' : ''
