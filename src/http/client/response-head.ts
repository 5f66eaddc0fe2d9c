import { declaredFraming } from '../message/framing.ts'
import { hasInvalidByte, hasListMember, nominatedFields, trimmedSlice } from '../message/grammar.ts'
import { InvalidMessageError } from '../message/invalid-message.ts'
import { responseHeaderKinds as kinds, type ResponseHeaderKind, responseHeaderKindOf } from './response-headers.ts'

/** How a response's body ends (RFC 9112 section 6.3). */
export type Framing = { readonly by: 'length'; readonly bytes: number } | { readonly by: 'chunks' | 'close' }

/** The head of a response. */
export interface UpstreamHead {
  readonly status: number
  /** Names and values in turn, as received, without Date and Content-Length; values without surrounding white space. */
  readonly fields: readonly string[]
  /**
   * The lines of the end-to-end fields (RFC 9110 section 7.6.1), each with its CRLF, in latin1, as a proxy forwards
   * them. Content-Length is not among them, because it frames the message.
   */
  readonly lines: string
  /** Whether a Date is among the lines. */
  readonly hasDate: boolean
  /** The value of Content-Length; undefined: the field is not present. */
  readonly length: string | undefined
  readonly framing: Framing
  /** The value of `Connection` in lower case; empty if the field is not present. */
  readonly connection: string
  /**
   * Whether another request may follow on the connection. Not after a response without a body that declares one, such
   * as a response to HEAD: a server that sends the body nevertheless may send it late, and it would be taken for the
   * next response.
   */
  readonly persists: boolean
  /**
   * For how long the server keeps an idle connection, by its `Keep-Alive: timeout`. Undefined if the server does not
   * send it.
   */
  readonly keepsForSec: number | undefined
}

/** The offsets in the text of a head of the values that differ between responses. -1: the field is not present. */
export interface VaryingOffsets {
  readonly dateFrom: number
  readonly dateTo: number
  readonly lengthFrom: number
  readonly lengthTo: number
  /** The offset of the value of Date in `lines`; -1: it is not among them. */
  readonly dateInLines: number
}

export interface ParsedHead {
  readonly head: UpstreamHead
  readonly offsets: VaryingOffsets
}

/** For responses without a body. */
const nothing: Framing = { by: 'length', bytes: 0 }
const untilClose: Framing = { by: 'close' }

/**
 * Parses the head of a response strictly: ambiguous heads are refused.
 * @param text latin1, without the empty line at its end
 * @param method of the request: a response to HEAD has no body
 * @throws InvalidMessageError
 */
export const parseUpstreamHead = (text: string, method: string): ParsedHead => {
  if (hasInvalidByte(text)) throw new InvalidMessageError('bad-field-value', 'the head has an invalid character')
  const firstEnd = text.indexOf('\r\n')
  const statusLine = firstEnd < 0 ? text : text.slice(0, firstEnd)
  if (!startLine.test(statusLine))
    throw new InvalidMessageError('bad-status-line', 'the response does not begin with a status line')
  const status = Number(statusLine.slice(9, 12))
  const fields: string[] = []
  const forwarded: Line[] = []
  let length: string | undefined
  let coding: string | undefined
  let connection = ''
  let keepAlive: string | undefined
  let [dateFrom, dateTo, lengthFrom, lengthTo] = [-1, -1, -1, -1]
  for (let at = firstEnd < 0 ? text.length : firstEnd + 2; at < text.length; ) {
    const found = text.indexOf('\r\n', at)
    const end = found < 0 ? text.length : found
    const colon = text.indexOf(':', at)
    if (colon < 0 || colon > end) throw new InvalidMessageError('not-a-field', 'a line of the head is not a field')
    const name = text.slice(at, colon)
    const value = trimmedSlice(text, colon + 1, end)
    const kind = kindOf(name)
    switch (kind) {
      case kinds.contentLength:
        if (length !== undefined) throw new InvalidMessageError('two-lengths', 'there are two Content-Length fields')
        length = value
        lengthFrom = text.indexOf(value, colon + 1)
        lengthTo = lengthFrom + value.length
        break
      case kinds.transferEncoding:
        if (coding !== undefined) throw new InvalidMessageError('bad-coding', 'there are two Transfer-Encoding fields')
        coding = value
        break
      case kinds.connection:
        connection = connection === '' ? value.toLowerCase() : `${connection}, ${value.toLowerCase()}`
        break
      case kinds.keepAlive:
        keepAlive = value
        break
      case kinds.date:
        dateFrom = text.indexOf(value, colon + 1)
        dateTo = dateFrom + value.length
        break
      default:
    }
    if (kind === kinds.plain || kind === kinds.date) forwarded.push({ name, from: at, to: end, kind })
    if (kind !== kinds.date && kind !== kinds.contentLength) fields.push(name, value)
    at = end + 2
  }
  const isOld = statusLine.charCodeAt(7) === 0x30
  const framing = framingOf(status, method, length, coding, isOld)
  const lines = endToEndLines(text, forwarded, connection, dateFrom)
  const head: UpstreamHead = {
    status,
    fields,
    lines: lines.text,
    hasDate: lines.dateAt >= 0,
    length,
    framing,
    connection,
    persists:
      framing.by !== 'close' &&
      !(framing === nothing && (coding !== undefined || Number(length ?? 0) > 0)) &&
      (isOld ? hasListMember(connection, 'keep-alive') : !hasListMember(connection, 'close')),
    keepsForSec: keepAlive === undefined ? undefined : keepAliveSec(keepAlive),
  }
  return { head, offsets: { dateFrom, dateTo, lengthFrom, lengthTo, dateInLines: lines.dateAt } }
}

interface Line {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly kind: ResponseHeaderKind
}

/** The lines without fields that `Connection` nominates. */
const endToEndLines = (
  text: string,
  lines: readonly Line[],
  connection: string,
  dateFrom: number,
): { readonly text: string; readonly dateAt: number } => {
  const nominated = nominatedFields(connection)
  let passed = ''
  let dateAt = -1
  for (const { name, from, to, kind } of lines) {
    if (nominated?.has(name.toLowerCase())) continue
    if (kind === kinds.date) dateAt = passed.length + dateFrom - from
    passed += `${text.slice(from, to)}\r\n`
  }
  return { text: passed, dateAt }
}

/**
 * `HTTP/1.1 200 OK`; some servers omit the space before an empty reason. A status above 599 has no defined meaning and
 * is not forwarded (RFC 9110 section 15).
 */
const startLine = /^HTTP\/1\.[01] [1-5]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/

const kindOf = (name: string): ResponseHeaderKind => {
  const kind = responseHeaderKindOf(name)
  if (kind === kinds.invalid) throw new InvalidMessageError('bad-field-name', 'a field name is not a token')
  return kind
}

const framingOf = (
  status: number,
  method: string,
  length: string | undefined,
  coding: string | undefined,
  isOld: boolean,
): Framing => {
  const declared = declaredFraming({ length, coding, versionMinor: isOld ? 0 : 1 })
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return nothing
  return declared.by === 'nothing' ? untilClose : declared
}

const keepAliveSec = (value: string): number | undefined => {
  const seconds = /\btimeout=(\d{1,6})\b/i.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds)
}
