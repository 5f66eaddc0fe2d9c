import { brokenChunks } from '../../support/broken-chunks.ts'
import { neighbours, passed, type RawCase, refused, request, shown } from './raw-case.ts'

const post = (body: string): string => request('POST BASE/x', ['Transfer-Encoding: chunked'], body)

/**
 * Bodies that some servers read in another way. The upstream may have received the part before the fault, but not a
 * complete request.
 */
const broken: readonly string[] = [
  ...brokenChunks,
  '5\rhello\r\n0\r\n\r\n',
  '5\r\nhell\r\n0\r\n\r\n',
  '5\r\nhello\r\n0\n\r\n',
  '5\r\nhello\r\n-0\r\n\r\n',
  '5,5\r\nhello\r\n0\r\n\r\n',
  '5\0\r\nhello\r\n0\r\n\r\n',
  '5;a\nb\r\nhello\r\n0\r\n\r\n',
  'FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n',
  '10000000000000005\r\nhello\r\n0\r\n\r\n',
  `5;${'a'.repeat(100_000)}\r\nhello\r\n0\r\n\r\n`,
  '5; a=b\r\nhello\r\n0\r\n\r\n',
  '5 ;a\r\nhello\r\n0\r\n\r\n',
  '5;\r\nhello\r\n0\r\n\r\n',
  '5;a="b\r\nhello\r\n0\r\n\r\n',
  '5\r\nhello\r\r\n0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\r\n',
  '5\r\nhello\r\n0x0\r\n\r\n',
]

const whole: readonly string[] = [
  '5\r\nhello\r\n0\r\n\r\n',
  '00005\r\nhello\r\n000\r\n\r\n',
  '1\r\nh\r\n4\r\nello\r\n0\r\n\r\n',
  '5;a=b\r\nhello\r\n0;c\r\n\r\n',
  '5;evil="0\r\n\r\n"\r\nhello\r\n0\r\n\r\n',
]

/** Trailer fields, which must have no effect after the body. */
const trailers: readonly string[] = [
  'Content-Length: 50',
  'Transfer-Encoding: evil',
  'Transfer-Encoding: chunked',
  'Host: evil',
  'Authorization: Bearer evil',
  'X-Sidegate-Client-Id: evil',
  'x_sidegate_client_id: evil',
  'X-Forwarded-For: evil',
  'X-Request-Id: evil',
  'Connection: evil',
  'Content-Length: 5\r\nContent-Length: 6',
  'Cookie: evil',
  ': evil',
  'evil',
  ' evil: folded',
  'X-A\0: evil',
  `X-A: ${'evil'.repeat(30_000)}`,
]

/** Bodies in chunks: sizes, extensions, ends and trailers. */
export const chunkCases: readonly RawCase[] = [
  ...neighbours('S14', broken, body => ({
    what: `the chunks ${shown(body)}`,
    bytes: post(body),
    ...refused,
    statuses: [400, 413],
    forwarded: 1,
    body: /^$/,
  })),
  ...neighbours('S14 good', whole, body => ({
    what: `the chunks ${shown(body)}`,
    bytes: post(body),
    statuses: [200, 400],
    forwarded: 1,
    body: /^(5\r\n)?(1\r\nh\r\n4\r\nello|hello)/,
  })),
  {
    id: 'S14 two',
    what: 'a request behind the last chunk is a separate request',
    bytes: post('5\r\nhello\r\n0\r\n\r\n').repeat(2),
    ...passed,
    further: [[200]],
    forwarded: 2,
    body: /hello/,
  },
  ...neighbours('S20', trailers, line => ({
    what: `a trailer ${shown(line)}`,
    bytes: post(`5\r\nhello\r\n0\r\n${line}\r\n\r\n`),
    statuses: [200, 400, 431],
    forwarded: 1,
    body: /hello/,
    fields: { 'content-length': undefined, cookie: undefined, authorization: undefined },
  })),
  {
    id: 'S20 bare',
    what: 'a bare LF behind a trailer',
    bytes: post('5\r\nhello\r\n0\r\nX: y\n\r\n'),
    ...refused,
    forwarded: 1,
    body: /hello/,
  },
  {
    id: 'S20 close',
    what: 'a trailer with Connection: close, which does not affect the next request',
    bytes: post('5\r\nhello\r\n0\r\nConnection: close\r\n\r\n') + request('GET BASE/y'),
    ...passed,
    further: [[200]],
    forwarded: 2,
  },
]
