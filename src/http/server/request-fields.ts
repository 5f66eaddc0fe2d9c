import { detachedCopy } from '../message/grammar.ts'
import { type FieldKind, fieldKinds } from './field-kinds.ts'

/**
 * The header fields of a request that Sidegate itself reads. Several lines of one field are one value, joined by
 * commas.
 */
export interface RequestFields {
  host: string | undefined
  hostCount: number
  /** Every Authorization line, in order. */
  authorization: string[]
  /** Every DPoP line, in order. */
  dpop: string[]
  clientCert: string | undefined
  forwardedClientCert: string | undefined
  contentLength: string | undefined
  transferEncoding: string | undefined
  connection: string | undefined
  upgrade: string | undefined
  expect: string | undefined
  contentType: string | undefined
  cookie: string | undefined
  accept: string | undefined
  origin: string | undefined
  requestId: string | undefined
  traceparent: string | undefined
  tracestate: string | undefined
  forwarded: string | undefined
  forwardedFor: string | undefined
  forwardedProto: string | undefined
  forwardedHost: string | undefined
}

/** Must not be modified: the first line of a field replaces it. */
const noLines: string[] = []

export const createRequestFields = (): RequestFields => ({
  host: undefined,
  hostCount: 0,
  authorization: noLines,
  dpop: noLines,
  clientCert: undefined,
  forwardedClientCert: undefined,
  contentLength: undefined,
  transferEncoding: undefined,
  connection: undefined,
  upgrade: undefined,
  expect: undefined,
  contentType: undefined,
  cookie: undefined,
  accept: undefined,
  origin: undefined,
  requestId: undefined,
  traceparent: undefined,
  tracestate: undefined,
  forwarded: undefined,
  forwardedFor: undefined,
  forwardedProto: undefined,
  forwardedHost: undefined,
})

/** Adds one field line. One switch, because it runs for each line of each request. */
export const addField = (fields: RequestFields, kind: FieldKind, value: string): void => {
  switch (kind) {
    case fieldKinds.host:
      fields.host ??= value
      fields.hostCount++
      break
    case fieldKinds.authorization:
      // Caches of verified tokens use the line as their key.
      fields.authorization = appended(fields.authorization, detachedCopy(value))
      break
    case fieldKinds.dpop:
      fields.dpop = appended(fields.dpop, value)
      break
    case fieldKinds.clientCert:
      fields.clientCert = joined(fields.clientCert, value)
      break
    case fieldKinds.forwardedClientCert:
      fields.forwardedClientCert = joined(fields.forwardedClientCert, value)
      break
    case fieldKinds.contentLength:
      fields.contentLength = joined(fields.contentLength, value)
      break
    case fieldKinds.transferEncoding:
      fields.transferEncoding = joined(fields.transferEncoding, value)
      break
    case fieldKinds.connection:
      fields.connection = joined(fields.connection, value)
      break
    case fieldKinds.upgrade:
      fields.upgrade = joined(fields.upgrade, value)
      break
    case fieldKinds.expect:
      fields.expect = joined(fields.expect, value)
      break
    case fieldKinds.contentType:
      fields.contentType = joined(fields.contentType, value)
      break
    case fieldKinds.cookie:
      fields.cookie = fields.cookie === undefined ? value : `${fields.cookie}; ${value}`
      break
    case fieldKinds.accept:
      fields.accept = joined(fields.accept, value)
      break
    case fieldKinds.origin:
      fields.origin = joined(fields.origin, value)
      break
    case fieldKinds.requestId:
      fields.requestId = joined(fields.requestId, value)
      break
    case fieldKinds.traceparent:
      fields.traceparent = joined(fields.traceparent, value)
      break
    case fieldKinds.tracestate:
      fields.tracestate = joined(fields.tracestate, value)
      break
    case fieldKinds.forwarded:
      fields.forwarded = joined(fields.forwarded, value)
      break
    case fieldKinds.forwardedFor:
      fields.forwardedFor = joined(fields.forwardedFor, value)
      break
    case fieldKinds.forwardedProto:
      fields.forwardedProto = joined(fields.forwardedProto, value)
      break
    case fieldKinds.forwardedHost:
      fields.forwardedHost = joined(fields.forwardedHost, value)
      break
    default:
  }
}

const appended = (lines: string[], value: string): string[] => {
  if (lines === noLines) return [value]
  lines.push(value)
  return lines
}

const joined = (before: string | undefined, value: string): string =>
  before === undefined ? value : `${before}, ${value}`
