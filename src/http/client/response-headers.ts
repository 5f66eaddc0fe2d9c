import { detachedCopy, isToken } from '../message/grammar.ts'

/** Header fields of an answer, by what a proxy does with them. */
export const responseHeaderKinds = {
  /** Goes to the client as it came. */
  plain: 0,
  /** Ends here: hop-by-hop (RFC 9110 section 7.6.1). */
  hop: 1,
  /** Not a field name (RFC 9110 section 5.1). */
  invalid: 2,
  connection: 3,
  keepAlive: 4,
  contentLength: 5,
  transferEncoding: 6,
  /** The gateway gives each request an id, and says it itself. */
  requestId: 7,
  /** Goes on, and whoever answers need not date the answer. */
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

/** Spellings seen so far; bounded, since a server may make them up. */
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
