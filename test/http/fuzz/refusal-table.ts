import { type Message, valuesOf } from './reading.ts'
import type { RefusalReason } from './refusal-reason.ts'
import { forbiddenTrailers } from './strict-chunks.ts'
import { knownMethods } from './strict-head.ts'

/** Requests that Node accepts and our server refuses. */
export interface RefusalRow {
  readonly reason: RefusalReason
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
      'A request line is a method, a target and a version with one space between them. Node allows more spaces, and no version.',
    section: 'RFC 9112 section 3',
    example: 'GET  / HTTP/1.1\r\nHost: a\r\n\r\n',
    isIn: ({ version }, bytes) => version === '0.9' || / {2,}/.test(bytes),
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
      'An absolute target has a host and a port as its authority, and `*` stands alone. Node allows more in both places.',
    section: 'RFC 9112 section 3.2.2',
    example: 'GET http://a@b/ HTTP/1.1\r\nHost: b\r\n\r\n',
    isIn: ({ target }) => target.includes('://') || target.startsWith('*'),
  },
  {
    reason: 'connect',
    sentence: 'A gateway opens no tunnels.',
    section: 'RFC 9110 section 9.3.6',
    example: 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n',
    isIn: ({ method }) => method === 'CONNECT',
  },
  {
    reason: 'unknown-method',
    sentence: 'No operation can have this method.',
    section: 'RFC 9110 section 9.1',
    example: 'PROPFIND / HTTP/1.1\r\nHost: a\r\n\r\n',
    isIn: ({ method }) => !knownMethods.has(method),
  },
  {
    reason: 'bare-lf',
    sentence: 'A line of the head ends with CR LF. Node skips a lone LF before a request.',
    section: 'RFC 9112 section 2.2',
    example: '\nGET / HTTP/1.1\r\nHost: a\r\n\r\n',
    isIn: (_, bytes, before) => /(?<!\r)\n/.test(bytes) || before?.body.endsWith('\r') === true,
  },
  {
    reason: 'bare-cr',
    sentence: 'CR occurs in a head only before LF. Node skips a lone CR before a request.',
    section: 'RFC 9112 section 2.2',
    example: '\rGET / HTTP/1.1\r\nHost: a\r\n\r\n',
    isIn: (_, bytes) => /\r(?!\n)/.test(bytes),
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
    reason: 'two-hosts',
    sentence: 'Two Host fields name two sites. Node reads the first of them.',
    section: 'RFC 9112 section 3.2',
    example: 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
    isIn: accepted => valuesOf(accepted, 'host').length > 1,
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
    sentence: 'The only transfer coding is `chunked`. Node accepts others before it.',
    section: 'RFC 9112 section 6.1',
    example: 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    isIn: accepted => valuesOf(accepted, 'transfer-encoding').some(value => value.toLowerCase() !== 'chunked'),
  },
  {
    reason: 'two-codings',
    sentence: 'Two Transfer-Encoding fields are a list of codings, of which `chunked` is to be the only one.',
    section: 'RFC 9112 section 6.1',
    example: 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    isIn: accepted => valuesOf(accepted, 'transfer-encoding').length > 1,
  },
  {
    reason: 'coding-in-http-1.0',
    sentence: 'HTTP/1.0 has no transfer codings: an older proxy has passed on a field that it does not know.',
    section: 'RFC 9112 section 6.1',
    example: 'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    isIn: accepted => accepted.version === '1.0' && valuesOf(accepted, 'transfer-encoding').length > 0,
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
    sentence: 'A chunk size has at most 13 digits, so that it is exact as a number.',
    section: 'RFC 9112 section 7.1',
    example: chunked('00000000000005\r\nhello\r\n0\r\n\r\n'),
    isIn: (accepted, bytes) => isChunked(accepted) && /[0-9a-fA-F]{14}/.test(bytes),
  },
  {
    reason: 'bad-chunk-extension',
    sentence: 'The value of a chunk extension is a token or a quoted string. Node also accepts an empty one.',
    section: 'RFC 9112 section 7.1.1',
    example: chunked('5;a=\r\nhello\r\n0\r\n\r\n'),
    isIn: (accepted, bytes) => isChunked(accepted) && bytes.includes(';'),
  },
  {
    reason: 'chunk-line-too-long',
    sentence: 'A line between chunks has at most 4 KiB. Node allows 16 KiB of extensions in a body.',
    section: 'RFC 9112 section 7.1.1',
    example: chunked(`5;${'a'.repeat(4096)}\r\nhello\r\n0\r\n\r\n`),
    isIn: (accepted, bytes) => isChunked(accepted) && /[^\n]{4000}/.test(bytes),
  },
  {
    reason: 'forbidden-trailer',
    sentence: 'Fields for framing, routing and the connection cannot come behind the content.',
    section: 'RFC 9110 section 6.5.1',
    example: chunked('0\r\nHost: b\r\n\r\n'),
    isIn: ({ trailers }) =>
      trailers.some((part, place) => place % 2 === 0 && forbiddenTrailers.has(part.toLowerCase())),
  },
  {
    reason: 'trailers-too-large',
    sentence: 'A trailer section has at most 16 KiB. Node has the same limit, which is lifted for the comparison.',
    section: 'RFC 6585 section 5',
    example: chunked(`0\r\nX-T: ${'a'.repeat(16_384)}\r\n\r\n`),
    isIn: ({ trailers }) => trailers.join('').length > 15_000,
  },
]

const rows: ReadonlyMap<string, RefusalRow> = new Map(refusalTable.map(row => [row.reason, row]))

export const findRefusalRow = (reason: string): RefusalRow | undefined => rows.get(reason)

const isChunked = (message: Message): boolean => valuesOf(message, 'transfer-encoding').length > 0

const headBytes = ({ target, fields }: Message): number => target.length + fields.join(': ').length
