import { redactPath } from '../telemetry/redact-path.ts'
import type { Span, SpanAttributes } from '../telemetry/tracing/span.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import { clientGone, type Exchange, methodOf, provenClientIdOf } from './exchange.ts'
import { isRecorded, type RequestTrace, type RoundTripSpan } from './request-trace.ts'

/** Passes the spans of an answered request to the tracer if its trace is recorded. */
export const recordTrace = (tracer: Tracer, exchange: Exchange, status: number): void => {
  const { trace } = exchange
  if (trace === undefined || !isRecorded(trace)) return
  const endedAtMs = performance.now()
  tracer.record(toRequestSpan(exchange, trace, status, endedAtMs))
  if (trace.roundTrip) tracer.record(toRoundTripSpan(exchange, trace, trace.roundTrip, status, endedAtMs))
}

/**
 * The span of the request, by OpenTelemetry's conventions for HTTP servers. Paths have no query, and there are no
 * header fields, because those may hold secrets.
 */
const toRequestSpan = (exchange: Exchange, trace: RequestTrace, status: number, endedAtMs: number): Span => {
  const { context, operation, target, upstreamFailure } = exchange
  const method = conventionalMethodOf(exchange)
  const isError = status >= 500 || isBrokenOff(exchange)
  return {
    ...partOf(trace),
    spanId: trace.spanId,
    parentId: trace.parentId,
    kind: 'server',
    name: operation ? `${method} ${operation.path}` : method,
    startedAtMs: context.startedAtMs,
    endedAtMs,
    attributes: {
      'http.request.method': method,
      'http.route': operation?.path,
      'http.response.status_code': status === clientGone ? undefined : status,
      'url.path': target && redactPath(target.path),
      'url.scheme': schemeOf(exchange),
      'network.protocol.version': `1.${context.request.head.versionMinor}`,
      'client.address': context.address,
      'sidegate.grouping': operation?.grouping ?? 'unmatched',
      'sidegate.client_id': provenClientIdOf(exchange),
      'sidegate.request_id': context.id,
      'error.type': status === clientGone ? 'client_gone' : isError ? (upstreamFailure ?? String(status)) : undefined,
    },
    isError,
  }
}

/** The span of the upstream round trip, by the conventions for HTTP clients as far as they need no query. */
const toRoundTripSpan = (
  exchange: Exchange,
  trace: RequestTrace,
  { spanId, startedAtMs }: RoundTripSpan,
  status: number,
  endedAtMs: number,
): Span => {
  const { operation, upstreamMs, upstreamStatus } = exchange
  const method = conventionalMethodOf(exchange)
  const failure = exchange.upstreamFailure ?? (status === clientGone ? 'client_gone' : undefined)
  const isError = failure !== undefined || upstreamStatus >= 400
  return {
    ...partOf(trace),
    spanId,
    parentId: trace.spanId,
    kind: 'client',
    name: method,
    startedAtMs,
    // A WebSocket outlives its handshake, and its request lasts as long.
    endedAtMs: upstreamMs > 0 ? Math.min(endedAtMs, startedAtMs + upstreamMs) : endedAtMs,
    attributes: {
      'http.request.method': method,
      'http.response.status_code': upstreamStatus || undefined,
      ...serverOf(trace.upstreamHost),
      'sidegate.upstream': operation?.target.kind === 'forward' ? operation.target.upstream : undefined,
      'error.type': isError ? (failure ?? String(upstreamStatus)) : undefined,
    },
    isError,
  }
}

/** The server of the round trip. Empty if no endpoint was chosen. */
const serverOf = (host: string | undefined): SpanAttributes => {
  const url = host === undefined ? null : URL.parse(`tcp://${host}`)
  if (url === null) return {}
  return { 'server.address': url.hostname, 'server.port': url.port === '' ? undefined : Number(url.port) }
}

const partOf = ({ traceId, state }: RequestTrace): Pick<Span, 'traceId' | 'traceState'> => ({
  traceId,
  traceState: state,
})

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE'])

/** The method, or `_OTHER`, the word of the conventions for methods that they do not know. */
const conventionalMethodOf = (exchange: Exchange): string => {
  const method = methodOf(exchange)
  return knownMethods.has(method) ? method : '_OTHER'
}

/** Whether a response had begun and broke off, and not because of the client. */
const isBrokenOff = ({ upstreamFailure, upstreamStatus }: Exchange): boolean =>
  upstreamFailure !== undefined && upstreamFailure !== 'client_gone' && upstreamStatus > 0

/** The scheme that the client used, to us or to the trusted proxy. */
const schemeOf = ({ context: { isSecure, trustedPeer, fields } }: Exchange): string =>
  isSecure || (trustedPeer && fields.forwardedProto === 'https') ? 'https' : 'http'
