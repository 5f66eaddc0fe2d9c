import type { InvalidMessageReason } from '../../../src/http/message/invalid-message.ts'
import { knownMethods } from '../../../src/http/server/request-parser.ts'
import { type Message, valuesOf } from './reading.ts'

/** Requests that Node accepts and our server refuses. */
export interface RefusalRow {
  readonly reason: InvalidMessageReason | 'upgrade-with-body'
  /** Why such a request is refused. */
  readonly sentence: string
  readonly section: string
  /** Bytes of one request, in latin1. */
  readonly example: string
  /**
   * Whether a request that Node has accepted is one of these. A refusal of any other request is a violation.
   * @param bytes of the whole connection, in latin1
   * @param before the request before it
   */
  readonly isIn: (accepted: Message, bytes: string, before: Message | undefined) => boolean
}

const chunked = (body: string): string => `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`

export const refusalTable: readonly RefusalRow[] = [
  {
    reason: 'bad-request-line',
    sentence:
      'A request line is a method, a target and a version with one space between them, and only CRLF before it. Node allows more spaces, no version, and a lone CR or LF before it.',
    section: 'RFC 9112 section 3',
    example: 'GET  / HTTP/1.1\r\nHost: a\r\n\r\n',
    isIn: ({ version }, bytes, before) =>
      version === '0.9' || / {2,}/.test(bytes) || bareLineEnd.test(bytes) || before?.body.endsWith('\r') === true,
  },
  {
    reason: 'bad-version',
    sentence: 'The version is HTTP/1.1 or HTTP/1.0. Node also accepts HTTP/0.9, HTTP/2.0, RTSP and ICE.',
    section: 'RFC 9112 section 2.3',
    example: 'GET / HTTP/2.0\r\nHost: a\r\n\r\n',
    isIn: ({ version }, bytes) => !['1.0', '1.1'].includes(version) || /(?:RTSP|ICE)\//.test(bytes),
  },
  {
    reason: 'bad-target',
    sentence:
      'A target is in origin form, or `*` for OPTIONS. Node accepts the absolute form, and `*` for other methods.',
    section: 'RFC 9112 section 3.2',
    example: 'GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n',
    isIn: ({ target }) => !target.startsWith('/'),
  },
  {
    reason: 'unknown-method',
    sentence: 'Methods outside of the IANA registry are not implemented, and a gateway opens no tunnels by CONNECT.',
    section: 'RFC 9110 section 9.1',
    example: 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n',
    isIn: ({ method }) => !knownMethods.has(method),
  },
  {
    reason: 'missing-host',
    sentence: 'A request in HTTP/1.1 has a Host. Node has the same check, which is lifted for the comparison.',
    section: 'RFC 9112 section 3.2',
    example: 'GET / HTTP/1.1\r\n\r\n',
    isIn: accepted => accepted.version === '1.1' && valuesOf(accepted, 'host').length === 0,
  },
  {
    reason: 'two-hosts',
    sentence: 'Two Host fields name two sites. Node reads the first of them.',
    section: 'RFC 9112 section 3.2',
    example: 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
    isIn: accepted => valuesOf(accepted, 'host').length > 1,
  },
  {
    reason: 'bad-host',
    sentence: 'A Host is a name or an address, with a port or without. Node does not read it.',
    section: 'RFC 9112 section 3.2',
    example: 'GET / HTTP/1.1\r\nHost: a, b\r\n\r\n',
    isIn: accepted => valuesOf(accepted, 'host').some(value => !/^[\w.-]*(?::\d+)?$/.test(value)),
  },
  {
    reason: 'bare-cr-or-lf',
    sentence: 'A line of the head ends with CRLF. Node ends the request line of HTTP/0.9 with a lone LF.',
    section: 'RFC 9112 section 2.2',
    example: 'GET /\nHost: a\r\n\r\n',
    isIn: (_, bytes) => bareLineEnd.test(bytes),
  },
  {
    reason: 'head-too-large',
    sentence: 'A head has at most 16 KiB. Node has the same limit, which is lifted for the comparison.',
    section: 'RFC 6585 section 5',
    example: `GET /${'a'.repeat(16_384)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    isIn: accepted => headBytes(accepted) > 15_000,
  },
  {
    reason: 'too-many-fields',
    sentence: 'A request has at most 100 fields. Node has a limit as well, which is lifted for the comparison.',
    section: 'RFC 6585 section 5',
    example: `GET / HTTP/1.1\r\nHost: a\r\n${'a: b\r\n'.repeat(100)}\r\n`,
    isIn: ({ fields }) => fields.length > 200,
  },
  {
    reason: 'bad-length',
    sentence: 'A length has at most 15 digits, so that it is exact as a number.',
    section: 'RFC 9110 section 8.6',
    example: 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0000000000000005\r\n\r\nhello',
    isIn: accepted => valuesOf(accepted, 'content-length').some(value => value.length > 15),
  },
  {
    reason: 'bad-coding',
    sentence: 'The only transfer coding is `chunked`, once. Node accepts others before it.',
    section: 'RFC 9112 section 6.1',
    example: 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    isIn: accepted => valuesOf(accepted, 'transfer-encoding').join().toLowerCase() !== 'chunked',
  },
  {
    reason: 'coding-in-http-1.0',
    sentence: 'HTTP/1.0 has no transfer codings: an older proxy has passed on a field that it does not know.',
    section: 'RFC 9112 section 6.1',
    example: 'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    isIn: accepted => accepted.version === '1.0' && isChunked(accepted),
  },
  {
    reason: 'upgrade-with-body',
    sentence: 'A WebSocket handshake has no body.',
    section: 'RFC 6455 section 4.1',
    example: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\nhello',
    isIn: accepted => valuesOf(accepted, 'upgrade').join().toLowerCase() === 'websocket',
  },
  {
    reason: 'bad-chunk-size',
    sentence:
      'A chunk size has at most 13 digits, so that it is exact as a number, and the value of an extension is a token or a quoted string. Node allows more zeros and an empty value.',
    section: 'RFC 9112 section 7.1',
    example: chunked('5;a=\r\nhello\r\n0\r\n\r\n'),
    isIn: (accepted, bytes) => isChunked(accepted) && /[0-9a-fA-F]{14}|;/.test(bytes),
  },
  {
    reason: 'chunk-line-too-long',
    sentence: 'A line between chunks has at most 4 KiB. Node allows 16 KiB of extensions in a body.',
    section: 'RFC 9112 section 7.1.1',
    example: chunked(`5;${'a'.repeat(4096)}\r\nhello\r\n0\r\n\r\n`),
    isIn: (accepted, bytes) => isChunked(accepted) && /[^\n]{4000}/.test(bytes),
  },
  {
    reason: 'trailers-too-large',
    sentence: 'A trailer section has at most 16 KiB. Node has the same limit, which is lifted for the comparison.',
    section: 'RFC 6585 section 5',
    example: chunked(`0\r\nX-T: ${'a'.repeat(16_000)}\r\nX-U: ${'a'.repeat(16_000)}\r\n\r\n`),
    isIn: ({ trailers }) => trailers.join('').length > 15_000,
  },
]

const rows: ReadonlyMap<string, RefusalRow> = new Map(refusalTable.map(row => [row.reason, row]))

export const findRefusalRow = (reason: string): RefusalRow | undefined => rows.get(reason)

/** A CR or an LF without the other. */
const bareLineEnd = /\r(?!\n)|(?<!\r)\n/

const isChunked = (message: Message): boolean => valuesOf(message, 'transfer-encoding').length > 0

const headBytes = ({ target, fields }: Message): number => target.length + fields.join(': ').length
