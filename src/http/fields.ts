import { fieldKindOf, fieldKinds } from './field-kinds.ts'

/** What the gateway itself reads of a request's header, found in one pass over the raw fields. */
export interface RequestFields {
  host: string | undefined
  hostCount: number
  /** Every Authorization line, in order. */
  readonly authorization: string[]
  /** Every DPoP line, in order. */
  readonly dpop: string[]
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

const noLines: string[] = []

/** @param rawHeaders names and values in turn, as Node's parser gives them */
export const scanFields = (rawHeaders: readonly string[]): RequestFields => {
  let authorization = noLines
  let dpop = noLines
  const fields: { -readonly [K in keyof RequestFields]: RequestFields[K] } = {
    host: undefined,
    hostCount: 0,
    authorization,
    dpop,
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
  }
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const value = rawHeaders[i + 1] as string
    switch (fieldKindOf(rawHeaders[i] as string)) {
      case fieldKinds.host:
        fields.host ??= value
        fields.hostCount++
        break
      case fieldKinds.authorization:
        if (authorization === noLines) fields.authorization = authorization = [value]
        else authorization.push(value)
        break
      case fieldKinds.dpop:
        if (dpop === noLines) fields.dpop = dpop = [value]
        else dpop.push(value)
        break
      case fieldKinds.clientCert:
        fields.clientCert = joined(fields.clientCert, value)
        break
      case fieldKinds.forwardedClientCert:
        fields.forwardedClientCert = joined(fields.forwardedClientCert, value)
        break
      case fieldKinds.contentLength:
        fields.contentLength = value
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
  return fields
}

const joined = (before: string | undefined, value: string): string =>
  before === undefined ? value : `${before}, ${value}`
