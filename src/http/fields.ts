/**
 * Header fields of a request, by what the gateway does with them. One table serves both readers: the scan of a request
 * (`scanFields`) and the making of the header that goes upstream.
 */
export const fieldKinds = {
  /** Goes upstream as it came. */
  plain: 0,
  /** Ends here: hop-by-hop (RFC 9110 section 7.6.1). */
  hop: 1,
  connection: 2,
  host: 3,
  contentLength: 4,
  transferEncoding: 5,
  authorization: 6,
  /** What only the gateway may say, in any spelling: dropped when a client says it. */
  identity: 7,
  requestId: 8,
  traceparent: 9,
  contentType: 10,
  cookie: 11,
  accept: 12,
  origin: 13,
  expect: 14,
  forwardedFor: 15,
  forwardedProto: 16,
  forwardedHost: 17,
  upgrade: 18,
  /** The address of a page, its query with it. */
  referer: 19,
} as const

export type FieldKind = (typeof fieldKinds)[keyof typeof fieldKinds]

const named: Readonly<Record<string, FieldKind>> = {
  connection: fieldKinds.connection,
  'keep-alive': fieldKinds.hop,
  'proxy-connection': fieldKinds.hop,
  'proxy-authenticate': fieldKinds.hop,
  'proxy-authorization': fieldKinds.hop,
  'http2-settings': fieldKinds.hop,
  te: fieldKinds.hop,
  trailer: fieldKinds.hop,
  upgrade: fieldKinds.upgrade,
  'transfer-encoding': fieldKinds.transferEncoding,
  host: fieldKinds.host,
  'content-length': fieldKinds.contentLength,
  authorization: fieldKinds.authorization,
  forwarded: fieldKinds.identity,
  'x-real-ip': fieldKinds.identity,
  'x-client-ip': fieldKinds.identity,
  'true-client-ip': fieldKinds.identity,
  'cf-connecting-ip': fieldKinds.identity,
  'remote-user': fieldKinds.identity,
  'x-remote-user': fieldKinds.identity,
  // Servers that obey these serve another path or method than the one that was checked.
  'x-original-url': fieldKinds.identity,
  'x-original-uri': fieldKinds.identity,
  'x-rewrite-url': fieldKinds.identity,
  'x-http-method': fieldKinds.identity,
  'x-http-method-override': fieldKinds.identity,
  'x-method-override': fieldKinds.identity,
  'x-request-id': fieldKinds.requestId,
  traceparent: fieldKinds.traceparent,
  'content-type': fieldKinds.contentType,
  cookie: fieldKinds.cookie,
  accept: fieldKinds.accept,
  origin: fieldKinds.origin,
  expect: fieldKinds.expect,
  referer: fieldKinds.referer,
  'x-forwarded-for': fieldKinds.forwardedFor,
  'x-forwarded-proto': fieldKinds.forwardedProto,
  'x-forwarded-host': fieldKinds.forwardedHost,
}

/** Spellings seen so far; bounded, since clients choose them. */
const seen = new Map<string, FieldKind>()
const maxSeen = 2000

export const fieldKindOf = (rawName: string): FieldKind => {
  const known = seen.get(rawName)
  if (known !== undefined) return known
  const kind = classify(rawName.toLowerCase())
  if (seen.size < maxSeen && rawName.length <= 64) seen.set(rawName, kind)
  return kind
}

const classify = (name: string): FieldKind => {
  // Own members only: a field may be called `constructor`.
  if (Object.hasOwn(named, name)) return named[name] as FieldKind
  // CGI-like servers read `_` as `-`: X_Sidegate_Client_Id and Content_Length would arrive as the real ones.
  if (name.includes('_')) return fieldKinds.identity
  // Others read every sign as `-`: X.Sidegate.Client.Id.
  const plain = name.replace(/[^a-z0-9]/g, '-')
  if (plain.startsWith('x-sidegate-') || plain.startsWith('x-forwarded-')) return fieldKinds.identity
  return fieldKinds.plain
}

/** What the gateway itself reads of a request's header, found in one pass over the raw fields. */
export interface RequestFields {
  host: string | undefined
  hostCount: number
  /** Every Authorization line, in order. */
  readonly authorization: string[]
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
  forwardedFor: string | undefined
  forwardedProto: string | undefined
  forwardedHost: string | undefined
}

const noAuthorization: string[] = []

/** @param rawHeaders names and values in turn, as Node's parser gives them */
export const scanFields = (rawHeaders: readonly string[]): RequestFields => {
  let authorization = noAuthorization
  const fields: { -readonly [K in keyof RequestFields]: RequestFields[K] } = {
    host: undefined,
    hostCount: 0,
    authorization,
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
        if (authorization === noAuthorization) fields.authorization = authorization = [value]
        else authorization.push(value)
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
