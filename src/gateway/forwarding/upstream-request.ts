import type { UpstreamRequest } from '../../http/client/request.ts'
import { withoutCredentials } from '../authn/query-credentials.ts'
import type { Exchange } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import { toUpstreamHeaders } from './request-headers.ts'

/** The request as the upstream gets it: one line, our Host, the fields that may pass, and one way to frame its body. */
export const toUpstreamRequest = (
  exchange: Exchange,
  operation: MeteredOperation,
  host: string,
  startedAtMs: number,
): UpstreamRequest => {
  const { method, request, fields } = exchange.context
  const isChunked = fields.transferEncoding !== undefined
  const framing = isChunked ? 'Transfer-Encoding: chunked\r\n' : lengthWhereWanted(method, fields.contentLength)
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

/** The same of a handshake, which has no body; its own fields are put back (RFC 6455 section 4.1). */
export const toUpgradeRequest = (exchange: Exchange, operation: MeteredOperation, host: string): string => {
  const path = upstreamPath(exchange, operation)
  const lines = toUpstreamHeaders(exchange, operation)
  return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${lines}\r\n`
}

/** The path and query that the upstream sees: prefix stripped if so configured, query credentials never. */
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

/** Whether it may be sent again: it has no body, and a repeat changes nothing. */
export const isRepeatable = (exchange: Exchange): boolean =>
  !hasBody(exchange) && idempotent.has(exchange.context.method)

/** Of the methods that operations have (RFC 9110 section 9.2.2). */
const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/** Whether it says that its body is larger than the operation takes; one in chunks is counted as it comes. */
export const declaresTooMuch = ({ context: { fields } }: Exchange, { target }: MeteredOperation): boolean =>
  fields.contentLength !== undefined && target.kind === 'forward' && Number(fields.contentLength) > target.maxBodyBytes

/** Some servers wait for a body, or answer 411, where a method that usually has one says nothing (RFC 9110 section 8.6). */
const lengthWhereWanted = (method: string, declared: string | undefined): string =>
  declared === undefined && (method === 'POST' || method === 'PUT' || method === 'PATCH') ? 'Content-Length: 0\r\n' : ''
