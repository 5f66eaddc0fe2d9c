import { type RawCase, refused } from './raw-case.ts'

const chunk = (content: string): string => `${content.length.toString(16)}\r\n${content}\r\n`

const smuggled = 'GET /admin HTTP/1.1\r\nHost: gw.test\r\nX-Y: 12345\r\n\r\n'

const transferEncoding = (letter: string, coding: string): RawCase => ({
  id: `S06${letter}`,
  what: `Transfer-Encoding: ${coding}`,
  bytes: `POST BASE/x HTTP/1.1\r\nHOST\r\nTransfer-Encoding: ${coding}\r\n\r\n${chunk('hello')}0\r\n\r\n`,
  statuses: [400, 501],
  closes: true,
})

const smuggledChunk = (method: string): RawCase => ({
  id: `S13 ${method}`,
  what: `a chunked ${method} whose body looks like a request (CVE-2026-29057)`,
  bytes: `${method} BASE/x HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(smuggled)}0\r\n\r\n`,
  statuses: [200],
  forwarded: 1,
  body: /GET \/admin/,
})

const trailer = (letter: string, line: string): RawCase => ({
  id: `S20${letter}`,
  what: `a trailer ${line}`,
  bytes: `POST BASE/x HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\n${chunk('hello')}0\r\n${line}\r\n\r\n`,
  statuses: [200, 400],
  forwarded: 1,
})

/** Framing and smuggling. */
export const framingCases: readonly RawCase[] = [
  {
    id: 'S01c',
    what: 'Transfer-Encoding in HTTP/1.0, where it frames nothing',
    bytes: 'POST BASE/x HTTP/1.0\r\nHOST\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ...refused,
  },
  {
    id: 'S01',
    what: 'Content-Length and Transfer-Encoding together',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ...refused,
  },
  {
    id: 'S01b',
    what: 'the same the other way round',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n',
    ...refused,
  },
  {
    id: 'S02',
    what: 'two different Content-Length lines',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nContent-Length: 5\r\nContent-Length: 10\r\n\r\nhelloworld',
    ...refused,
  },
  {
    id: 'S02b',
    what: 'two equal Content-Length lines',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello',
    ...refused,
  },
  {
    id: 'S02c',
    what: 'a list as Content-Length',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nContent-Length: 5, 5\r\n\r\nhello',
    ...refused,
  },
  {
    id: 'S02d',
    what: 'a signed Content-Length',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nContent-Length: +5\r\n\r\nhello',
    ...refused,
  },
  {
    id: 'S02e',
    what: 'a space before the colon of Content-Length',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nContent-Length : 5\r\n\r\nhello',
    ...refused,
  },
  transferEncoding('a', 'xchunked'),
  transferEncoding('b', 'identity'),
  transferEncoding('c', 'gzip'),
  transferEncoding('d', 'chunked, gzip'),
  transferEncoding('e', 'chunked;ext=val'),
  transferEncoding('f', 'gzip, chunked'),
  transferEncoding('g', 'chunked\r\nTransfer-Encoding: chunked'),
  transferEncoding('h', '\x0bchunked'),
  smuggledChunk('DELETE'),
  smuggledChunk('OPTIONS'),
  smuggledChunk('GET'),
  smuggledChunk('POST'),
  {
    id: 'S13 length',
    what: 'a DELETE with a Content-Length whose body looks like a request',
    bytes: `DELETE BASE/x HTTP/1.1\r\nHOST\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    statuses: [200],
    forwarded: 1,
    body: /GET \/admin/,
  },
  {
    id: 'S13 empty',
    what: 'a chunked DELETE without content',
    bytes: 'DELETE BASE/x HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    statuses: [200],
    forwarded: 1,
  },
  {
    id: 'S14',
    what: 'a chunk size that is no number',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n',
    ...refused,
    forwarded: 1,
  },
  trailer('a', 'Content-Length: 50'),
  trailer('b', 'Transfer-Encoding: evil'),
  trailer('c', 'Host: evil'),
  trailer('d', 'Authorization: Bearer evil'),
  trailer('e', 'X-Sidegate-Client-Id: evil'),
  {
    id: 'S26',
    what: 'Content_Length beside Content-Length',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nContent_Length: 99\r\nContent-Length: 11\r\n\r\nhello world',
    statuses: [200, 400],
    forwarded: 1,
    body: /^hello world$/,
  },
  {
    id: 'S26b',
    what: 'Transfer_Encoding beside Content-Length',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nTransfer_Encoding: chunked\r\nContent-Length: 11\r\n\r\nhello world',
    statuses: [200, 400],
    forwarded: 1,
    body: /^hello world$/,
  },
  {
    id: 'S27',
    what: 'a bare LF between header lines',
    bytes: 'GET BASE/x HTTP/1.1\nHOST\n\n',
    ...refused,
  },
  {
    id: 'S28',
    what: 'a folded header line',
    bytes: 'GET BASE/x HTTP/1.1\r\nHOST\r\nX-A: 1\r\n X-Sidegate-Client-Id: evil\r\n\r\n',
    ...refused,
  },
]
