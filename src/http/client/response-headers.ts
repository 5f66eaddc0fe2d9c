import { detachedCopy, isToken } from '../message/grammar.ts'

/** Header fields of an answer, by what a proxy does with them. */
export const answerFieldKinds = {
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

export type AnswerFieldKind = (typeof answerFieldKinds)[keyof typeof answerFieldKinds]

const named: ReadonlyMap<string, AnswerFieldKind> = new Map<string, AnswerFieldKind>([
  ['connection', answerFieldKinds.connection],
  ['keep-alive', answerFieldKinds.keepAlive],
  ['content-length', answerFieldKinds.contentLength],
  ['transfer-encoding', answerFieldKinds.transferEncoding],
  ['date', answerFieldKinds.date],
  ['x-request-id', answerFieldKinds.requestId],
  ['proxy-connection', answerFieldKinds.hop],
  ['proxy-authenticate', answerFieldKinds.hop],
  ['te', answerFieldKinds.hop],
  ['trailer', answerFieldKinds.hop],
  ['upgrade', answerFieldKinds.hop],
])

/** Spellings seen so far; bounded, since a server may make them up. */
const seen = new Map<string, AnswerFieldKind>()
const maxSeen = 2000

export const answerFieldKindOf = (rawName: string): AnswerFieldKind => {
  const known = seen.get(rawName)
  if (known !== undefined) return known
  const kind = isToken(rawName)
    ? (named.get(rawName.toLowerCase()) ?? answerFieldKinds.plain)
    : answerFieldKinds.invalid
  if (seen.size < maxSeen && rawName.length <= 64) seen.set(detachedCopy(rawName), kind)
  return kind
}
