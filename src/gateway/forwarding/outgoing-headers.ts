import { fieldKindOf, fieldKinds } from '../../http/field-kinds.ts'
import { nextTraceparent, parseTraceparent, parseTracestate } from '../../http/trace-context.ts'
import { withoutSecretQuery } from '../callers/query-credentials.ts'
import type { Exchange } from '../exchange.ts'
import type { MeteredOperation } from '../meter.ts'
import { upstreamTraceparent } from '../tracing/request-trace.ts'
import { addForwarded } from './forwarded-fields.ts'

/**
 * The header that goes upstream, names and values in turn: what the client sent, less hop-by-hop fields (RFC 9110
 * section 7.6.1), those its Connection nominates, and everything that claims an identity; then the gateway's own.
 */
export const outgoingHeaders = (exchange: Exchange, operation: MeteredOperation): string[] => {
  const { req, fields } = exchange.context
  const { rawHeaders } = req
  const nominated = nominatedFields(fields.connection)
  const forwardAuthorization = operation.target.kind === 'forward' && operation.target.forwardAuthorization
  const headers: string[] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (nominated?.has(name.toLowerCase())) continue
    switch (fieldKindOf(name)) {
      case fieldKinds.plain:
      case fieldKinds.contentLength:
      case fieldKinds.contentType:
      case fieldKinds.cookie:
      case fieldKinds.accept:
      case fieldKinds.origin:
        headers.push(name, rawHeaders[i + 1] as string)
        break
      case fieldKinds.referer:
        headers.push(name, withoutSecretQuery(rawHeaders[i + 1] as string))
        break
      case fieldKinds.authorization:
        if (forwardAuthorization) headers.push(name, rawHeaders[i + 1] as string)
        break
      default:
    }
  }
  addOwn(headers, exchange, operation)
  return headers
}

/** What `Connection` asks to remove, beyond its own options; undefined in the usual cases. Content-Length stays: it frames. */
const nominatedFields = (connection: string | undefined): ReadonlySet<string> | undefined => {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined
  const names = connection.toLowerCase().split(',')
  return new Set(names.map(name => name.trim()).filter(name => name !== 'content-length'))
}

/** Set after the client's fields are filtered, so nothing a client nominates or sends can take these away. */
const addOwn = (headers: string[], exchange: Exchange, { grouping, target }: MeteredOperation): void => {
  const { context, assertion } = exchange
  if (target.kind !== 'forward') return
  if (target.identity !== 'assertion') addIdentity(headers, exchange, grouping)
  if (assertion !== undefined) headers.push('X-Sidegate-Assertion', assertion)
  headers.push('X-Request-Id', context.id)
  addTrace(headers, exchange)
  addForwarded(headers, context, target.forwardedHeader)
}

const addIdentity = (headers: string[], { caller }: Exchange, grouping: string): void => {
  if (caller?.kind === 'token') {
    headers.push('X-Sidegate-Client-Id', caller.token.client_id)
    headers.push('X-Sidegate-Subject', caller.token.sub)
    headers.push('X-Sidegate-Scope', caller.token.scope)
  } else if (caller?.kind === 'client') {
    headers.push('X-Sidegate-Client-Id', caller.client.client_id)
  }
  headers.push('X-Sidegate-Grouping', grouping)
}

/** W3C Trace Context: what others say of the trace goes on with it, and not without it. */
const addTrace = (headers: string[], { context: { fields }, trace, sampleNewTrace }: Exchange): void => {
  if (trace) {
    headers.push('traceparent', upstreamTraceparent(trace))
    if (trace.state !== undefined) headers.push('tracestate', trace.state)
    return
  }
  const parent = parseTraceparent(fields.traceparent)
  headers.push('traceparent', nextTraceparent(parent, sampleNewTrace))
  const state = parent && parseTracestate(fields.tracestate)
  if (state !== undefined) headers.push('tracestate', state)
}
