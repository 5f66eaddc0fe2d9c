import { type DeclaredFraming, declaredFraming } from '../message/framing.ts'
import {
  detachedCopy,
  findInvalidByte,
  hasInvalidByte,
  hasListMember,
  isToken,
  trimmedSlice,
} from '../message/grammar.ts'
import { InvalidMessageError } from '../message/invalid-message.ts'
import { type FieldKind, fieldKindOf, fieldKinds } from './field-kinds.ts'
import { addField, createRequestFields, type RequestFields } from './request-fields.ts'

/** The request line and the header of a request, checked. */
export interface RequestHead {
  readonly method: string
  /** As received: begins with `/`, or is `*` for OPTIONS. */
  readonly target: string
  /** The minor version of HTTP/1.0 or HTTP/1.1. */
  readonly versionMinor: 0 | 1
  readonly fields: RequestFields
  readonly framing: DeclaredFraming
  /** Whether another request may follow on the connection (RFC 9112 section 9.3). */
  readonly isPersistent: boolean
  /**
   * Whether the client asks for a WebSocket by a GET in HTTP/1.1 (RFC 6455 section 4.1). A request for another upgrade
   * is an ordinary request.
   */
  readonly asksForWebSocket: boolean
  /** The whole head as latin1, without the empty line at its end. */
  readonly text: string
  /** The index in the text of the line of each field, in order. */
  readonly lineStarts: readonly number[]
  /** The kind of each field, in the same order. */
  readonly kinds: readonly FieldKind[]
}

/**
 * Methods of the IANA registry (RFC 9110 section 16.1.1) that Node's parser accepts too. Other methods and CONNECT get
 * 501.
 */
export const knownMethods: ReadonlySet<string> = new Set(
  (
    'GET HEAD POST PUT DELETE OPTIONS PATCH TRACE ACL BIND CHECKOUT COPY LINK LOCK MERGE MKACTIVITY MKCALENDAR ' +
    'MKCOL MOVE PROPFIND PROPPATCH QUERY REBIND REPORT SEARCH UNBIND UNLINK UNLOCK'
  ).split(' '),
)
const longestMethod = 32

/**
 * Parses a request's head strictly: ambiguous heads are refused.
 * @param text latin1, without the empty line at its end
 * @throws InvalidMessageError
 */
export const parseRequestHead = (text: string, maxFields: number): RequestHead => {
  if (hasInvalidByte(text)) throw firstFault(text)
  const lineEnd = text.indexOf('\r\n')
  const { method, target, versionMinor } = parseRequestLine(lineEnd < 0 ? text : text.slice(0, lineEnd))
  const fields = createRequestFields()
  const lineStarts: number[] = []
  const kinds: FieldKind[] = []
  for (let at = lineEnd < 0 ? text.length : lineEnd + 2; at < text.length; ) {
    const found = text.indexOf('\r\n', at)
    const end = found < 0 ? text.length : found
    const colon = text.indexOf(':', at)
    if (colon < 0 || colon >= end) throw lineFault(text.slice(at, end))
    const kind = fieldKindOf(text.slice(at, colon))
    if (kind === fieldKinds.invalid) throw lineFault(text.slice(at, end))
    if (kind > fieldKinds.hop) addField(fields, kind, trimmedSlice(text, colon + 1, end))
    lineStarts.push(at)
    kinds.push(kind)
    at = end + 2
  }
  if (kinds.length > maxFields)
    throw new InvalidMessageError('too-many-fields', 'the request has too many header fields')
  checkHost(fields, versionMinor)
  const framing = requestFraming(fields, versionMinor)
  const connection = fields.connection?.toLowerCase() ?? ''
  return {
    method,
    target,
    versionMinor,
    fields,
    framing,
    isPersistent:
      !hasListMember(connection, 'close') && (versionMinor === 1 || hasListMember(connection, 'keep-alive')),
    asksForWebSocket:
      fields.upgrade !== undefined &&
      method === 'GET' &&
      versionMinor === 1 &&
      fields.upgrade.toLowerCase() === 'websocket' &&
      hasListMember(connection, 'upgrade'),
    text,
    lineStarts,
    kinds,
  }
}

/** All values of a field that is not among `RequestFields`, in order. @param name in lower case */
export const fieldValues = ({ text, lineStarts }: RequestHead, name: string): readonly string[] => {
  const values: string[] = []
  for (const at of lineStarts) {
    const colon = text.indexOf(':', at)
    if (colon - at !== name.length || text.slice(at, colon).toLowerCase() !== name) continue
    const end = text.indexOf('\r\n', at)
    values.push(trimmedSlice(text, colon + 1, end < 0 ? text.length : end))
  }
  return values
}

/**
 * Checks an incomplete head, so that bytes of another protocol are refused at once. The reason is the one for which the
 * complete head would be refused, however its bytes are cut.
 * @param from the index of the first line that was not checked before
 * @returns the index of the incomplete line, so that a head in many pieces is checked only once
 * @throws InvalidMessageError
 */
export const checkIncompleteHead = (text: string, from = 0): number => {
  // The LF of a CR at the end may still arrive.
  const whole = text.endsWith('\r') ? text.slice(0, -1) : text
  const fault = findFault(whole, from)
  if (fault) throw fault
  const lastEnd = whole.lastIndexOf('\r\n')
  return lastEnd < 0 ? 0 : lastEnd + 2
}

/** For a text that has a fault. */
const firstFault = (text: string): InvalidMessageError => findFault(text) ?? lineFault('')

/** The fault of the first line that has one; the last line may be incomplete. */
const findFault = (text: string, from = 0): InvalidMessageError | undefined => {
  const lines = text.slice(from).split('\r\n')
  for (const [nth, line] of lines.entries()) {
    const isRequestLine = from === 0 && nth === 0
    // The method is checked before the bytes after it have arrived.
    if (isRequestLine && !mayBeginRequest(line)) return badRequestLine()
    const invalid = invalidByteIn(line)
    if (invalid) return invalid
    const isComplete = nth < lines.length - 1
    if (!isComplete) continue
    if (isRequestLine) parseRequestLine(line)
    else if (!isFieldLine(line)) return lineFault(line)
  }
  return undefined
}

const mayBeginRequest = (line: string): boolean => {
  const space = line.indexOf(' ')
  const method = space < 0 ? line : line.slice(0, space)
  return method.length <= longestMethod && (line === '' || isToken(method))
}

const isFieldLine = (line: string): boolean => {
  const colon = line.indexOf(':')
  return colon > 0 && isToken(line.slice(0, colon))
}

interface RequestLine {
  readonly method: string
  readonly target: string
  readonly versionMinor: 0 | 1
}

/** RFC 9112 section 3. */
const parseRequestLine = (line: string): RequestLine => {
  const methodEnd = line.indexOf(' ')
  const targetEnd = line.indexOf(' ', methodEnd + 1)
  if (methodEnd <= 0 || targetEnd < 0 || line.indexOf(' ', targetEnd + 1) >= 0) throw badRequestLine()
  const method = line.slice(0, methodEnd)
  if (!knownMethods.has(method) && (method.length > longestMethod || !isToken(method))) throw badRequestLine()
  const target = line.slice(methodEnd + 1, targetEnd)
  const version = line.slice(targetEnd + 1)
  if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0') {
    throw new InvalidMessageError('bad-version', 'the version is neither HTTP/1.1 nor HTTP/1.0')
  }
  if (!knownMethods.has(method)) throw new InvalidMessageError('unknown-method', 'the method is not implemented')
  if (!targetForm.test(target) || (target.charCodeAt(0) !== 0x2f && !(target === '*' && method === 'OPTIONS'))) {
    throw new InvalidMessageError('bad-target', 'the request target is not in origin form')
  }
  return { method, target, versionMinor: version === 'HTTP/1.1' ? 1 : 0 }
}

const targetForm = /^[\x21-\x7e]+$/

const badRequestLine = (): InvalidMessageError =>
  new InvalidMessageError('bad-request-line', 'the request does not begin with a request line')

/** RFC 9112 section 3.2: exactly one Host, and in HTTP/1.0 at most one. */
const checkHost = ({ host, hostCount }: RequestFields, versionMinor: 0 | 1): void => {
  if (hostCount > 1) throw new InvalidMessageError('two-hosts', 'there are two Host fields')
  if (host === undefined) {
    if (versionMinor === 1) throw new InvalidMessageError('missing-host', 'there is no Host field')
  } else if (!isHost(host)) {
    throw new InvalidMessageError('bad-host', 'the Host field is not a host and port')
  }
}

/** RFC 9110 section 7.2: a name or an address, with a port or without. */
const hostForm = /^(?:[\w.~!$&'()*+,=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/

/** The last valid host: most requests have the same one. */
let goodHost = ''

const isHost = (host: string): boolean => {
  if (host === goodHost) return true
  if (!hostForm.test(host)) return false
  if (host.length <= 255) goodHost = detachedCopy(host)
  return true
}

const requestFraming = (fields: RequestFields, versionMinor: 0 | 1): DeclaredFraming => {
  const { contentLength, transferEncoding } = fields
  if (contentLength?.includes(','))
    throw new InvalidMessageError('two-lengths', 'there are two values of Content-Length')
  return declaredFraming({ length: contentLength, coding: transferEncoding, versionMinor })
}

/** The fault of the first invalid byte, so that later bytes do not change the reason. */
const invalidByteIn = (line: string): InvalidMessageError | undefined => {
  const byte = findInvalidByte(line)
  if (byte === undefined) return undefined
  return byte === '\r' || byte === '\n'
    ? new InvalidMessageError('bare-cr-or-lf', 'a line of the head does not end with CRLF')
    : new InvalidMessageError('control-byte', 'the head has a control character')
}

/** Why a line is not a field. */
const lineFault = (line: string): InvalidMessageError => {
  // RFC 9112 section 5.2.
  if (/^[ \t]/.test(line)) return new InvalidMessageError('obs-fold', 'a field continues on the next line')
  return line.includes(':')
    ? new InvalidMessageError('bad-field-name', 'a field name is not a token')
    : new InvalidMessageError('not-a-field', 'a line of the head is not a field')
}
