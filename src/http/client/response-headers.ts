import { detachedCopy, isToken } from '../message/grammar.ts'

/** Header fields of a response, by how a proxy treats them. */
export const responseHeaderKinds = {
  /** Forwarded unchanged. */
  plain: 0,
  /** Not forwarded: hop-by-hop (RFC 9110 section 7.6.1). */
  hop: 1,
  /** Not a field name (RFC 9110 section 5.1). */
  invalid: 2,
  connection: 3,
  keepAlive: 4,
  contentLength: 5,
  transferEncoding: 6,
  /** Not forwarded: the gateway sends its own request id. */
  requestId: 7,
  /** Forwarded; the gateway adds no Date of its own then. */
  date: 8,
} as const

export type ResponseHeaderKind = (typeof responseHeaderKinds)[keyof typeof responseHeaderKinds]

const named: ReadonlyMap<string, ResponseHeaderKind> = new Map<string, ResponseHeaderKind>([
  ['connection', responseHeaderKinds.connection],
  ['keep-alive', responseHeaderKinds.keepAlive],
  ['content-length', responseHeaderKinds.contentLength],
  ['transfer-encoding', responseHeaderKinds.transferEncoding],
  ['date', responseHeaderKinds.date],
  ['x-request-id', responseHeaderKinds.requestId],
  ['proxy-connection', responseHeaderKinds.hop],
  ['proxy-authenticate', responseHeaderKinds.hop],
  ['te', responseHeaderKinds.hop],
  ['trailer', responseHeaderKinds.hop],
  ['upgrade', responseHeaderKinds.hop],
])

/** Spellings seen so far. Their number is limited, because a server may invent any number. */
const seen = new Map<string, ResponseHeaderKind>()
const maxSeen = 2000

export const responseHeaderKindOf = (rawName: string): ResponseHeaderKind => {
  const known = seen.get(rawName)
  if (known !== undefined) return known
  const kind = isToken(rawName)
    ? (named.get(rawName.toLowerCase()) ?? responseHeaderKinds.plain)
    : responseHeaderKinds.invalid
  if (seen.size < maxSeen && rawName.length <= 64) seen.set(detachedCopy(rawName), kind)
  return kind
}
