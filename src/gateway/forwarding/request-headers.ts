import { nominatedFields, trimmedSlice } from '../../http/message/grammar.ts'
import { nextTraceparent, parseTraceparent, parseTracestate } from '../../http/peer/trace-context.ts'
import { type FieldKind, fieldKinds, plainName } from '../../http/server/field-kinds.ts'
import { withoutSecretQuery } from '../authn/query-credentials.ts'
import type { Exchange } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import { upstreamTraceparent } from '../request-trace.ts'
import { forwardedLines } from './forwarded-headers.ts'

/**
 * The field lines that go upstream, each with its CRLF. They are the client's fields without hop-by-hop fields (RFC
 * 9110 section 7.6.1), without fields that Connection nominates and without fields that claim an identity; then the
 * gateway's own. Adjacent lines of the request are copied as one slice.
 */
export const toUpstreamHeaders = (exchange: Exchange, operation: MeteredOperation): string => {
  const { request, fields } = exchange.context
  const { text, lineStarts, kinds } = request.head
  const { connection } = fields
  const nominated = connection === undefined ? undefined : nominatedFields(connection.toLowerCase())
  const { forwardsAuthorization, dropped } = passingOf(operation)
  let lines = ''
  let begun = -1
  for (let nth = 0; nth < kinds.length; nth++) {
    const kind = kinds[nth] as FieldKind
    const start = lineStarts[nth] as number
    const isRemoved = (nominated && isNominated(nominated, text, start)) || (dropped && isDropped(dropped, text, start))
    if (!isRemoved && passesUnchanged(kind, forwardsAuthorization)) {
      if (begun < 0) begun = start
      continue
    }
    if (begun >= 0) lines += text.slice(begun, start)
    begun = -1
    if (kind === fieldKinds.referer && !isRemoved) {
      lines += refererLine(text, start, lineStarts[nth + 1])
    }
  }
  if (begun >= 0) lines += `${text.slice(begun)}\r\n`
  return lines + ownLines(exchange, operation)
}

const passesUnchanged = (kind: FieldKind, forwardsAuthorization: boolean): boolean => {
  switch (kind) {
    case fieldKinds.plain:
    case fieldKinds.contentLength:
    case fieldKinds.contentType:
    case fieldKinds.cookie:
    case fieldKinds.accept:
    case fieldKinds.origin:
      return true
    case fieldKinds.authorization:
      return forwardsAuthorization
    default:
      return false
  }
}

/** Which fields the operation passes on; `dropped` is undefined if the grouping names no further fields. */
const passingOf = ({ target }: MeteredOperation) =>
  target.kind === 'forward'
    ? {
        forwardsAuthorization: target.forwardAuthorization,
        dropped: target.dropHeaders.length === 0 ? undefined : target.dropHeaders,
      }
    : { forwardsAuthorization: false, dropped: undefined }

const isDropped = (dropped: readonly string[], text: string, start: number): boolean =>
  dropped.includes(plainName(text.slice(start, text.indexOf(':', start))))

const isNominated = (nominated: ReadonlySet<string>, text: string, start: number): boolean =>
  nominated.has(text.slice(start, text.indexOf(':', start)).toLowerCase())

/** The URL of a page may hold query credentials. */
const refererLine = (text: string, start: number, next: number | undefined): string => {
  const colon = text.indexOf(':', start)
  const end = next === undefined ? text.length : next - 2
  return `${text.slice(start, colon)}: ${withoutSecretQuery(trimmedSlice(text, colon + 1, end))}\r\n`
}

/** The gateway's fields come after the client's, so that no field or nomination of the client removes them. */
const ownLines = (exchange: Exchange, { grouping, target }: MeteredOperation): string => {
  const { context, assertion } = exchange
  if (target.kind !== 'forward') return ''
  const identity = target.identity === 'assertion' ? '' : identityLines(exchange, grouping)
  const signed = assertion === undefined ? '' : `X-Sidegate-Assertion: ${assertion}\r\n`
  const forwarded = forwardedLines(context, target.forwardedHeader)
  return `${identity}${signed}X-Request-Id: ${context.id}\r\n${traceLines(exchange)}${forwarded}`
}

const identityLines = ({ caller }: Exchange, grouping: string): string => {
  const own = `X-Sidegate-Grouping: ${grouping}\r\n`
  if (caller?.kind === 'token') {
    const { client_id, sub, scope } = caller.token
    return `X-Sidegate-Client-Id: ${client_id}\r\nX-Sidegate-Subject: ${sub}\r\nX-Sidegate-Scope: ${scope}\r\n${own}`
  }
  return caller?.kind === 'client' ? `X-Sidegate-Client-Id: ${caller.client.client_id}\r\n${own}` : own
}

/**
 * W3C Trace Context: `tracestate` is passed on together with the `traceparent` that it came with, and never without it.
 */
const traceLines = ({ context: { fields }, trace, sampleNewTrace }: Exchange): string => {
  if (trace) return toTraceLines(upstreamTraceparent(trace), trace.state)
  const parent = parseTraceparent(fields.traceparent)
  return toTraceLines(nextTraceparent(parent, sampleNewTrace), parent && parseTracestate(fields.tracestate))
}

const toTraceLines = (traceparent: string, state: string | undefined): string =>
  state === undefined ? `traceparent: ${traceparent}\r\n` : `traceparent: ${traceparent}\r\ntracestate: ${state}\r\n`
