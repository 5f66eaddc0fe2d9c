/** One hard case for a gateway: bytes, and what may come of them. Driven by raw-cases.test.ts. */
export interface RawCase {
  /** As in the list of hard cases; a letter behind it marks a neighbour. */
  readonly id: string
  readonly what: string
  /** `BASE` stands for the path of the grouping under test, `HOST` for a good Host line. */
  readonly bytes: string
  /** Statuses that the first answer may have. */
  readonly statuses: readonly number[]
  /** The connection ends after the answer. */
  readonly closes?: boolean
  /** Most requests that may reach the upstream; none where left out. */
  readonly forwarded?: number
  /** What the forwarded request must hold, in this body. */
  readonly body?: RegExp
}

/** What stands in a hostile value; it may reach no upstream in a field. */
export const hostile = 'evil'

const chunk = (content: string): string => `${content.length.toString(16)}\r\n${content}\r\n`

const smuggled = 'GET /admin HTTP/1.1\r\nHost: gw.test\r\nX-Y: 12345\r\n\r\n'

const refused = { statuses: [400], closes: true } as const

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

const path = (letter: string, target: string): RawCase => ({
  id: `R06${letter}`,
  what: `the path ${target}`,
  bytes: `GET ${target} HTTP/1.1\r\nHOST\r\n\r\n`,
  ...refused,
})

export const rawCases: readonly RawCase[] = [
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
  { id: 'R01', what: 'no Host', bytes: 'GET BASE/x HTTP/1.1\r\n\r\n', ...refused },
  { id: 'R02', what: 'two different Hosts', bytes: 'GET BASE/x HTTP/1.1\r\nHOST\r\nHost: evil\r\n\r\n', ...refused },
  { id: 'R02b', what: 'the same Host twice', bytes: 'GET BASE/x HTTP/1.1\r\nHOST\r\nHOST\r\n\r\n', ...refused },
  {
    id: 'R04',
    what: 'a target in absolute form',
    bytes: 'GET http://other.test/BASE/x HTTP/1.1\r\nHOST\r\n\r\n',
    statuses: [400, 404, 421],
  },
  {
    id: 'R04b',
    what: 'an absolute target for the host itself',
    bytes: 'GET http://gw.testBASE/x HTTP/1.1\r\nHOST\r\n\r\n',
    ...refused,
  },
  path('a', 'BASE/a/%2e%2e/admin'),
  path('b', 'BASE/a/..%2fadmin'),
  path('c', 'BASE/a/../admin'),
  path('d', 'BASE/a;x=1/admin'),
  path('e', 'BASE/%00'),
  path('f', 'BASE/a\\..\\admin'),
  path('g', 'BASE/a/%5c../admin'),
  path('h', 'BASE/./admin'),
  path('i', 'BASE/a/..'),
  path('j', 'BASE/%zz'),
  path('k', 'BASE/a#/../admin'),
  path('l', 'BASE/a?x=1#client_secret=evil'),
  path('m', 'BASE//admin'),
  path('n', 'BASE/%0d%0aX-Sidegate-Client-Id:evil'),
  path('o', 'BASE/caf\xe9'),
  { id: 'R08a', what: 'a method in lower case', bytes: 'get BASE/x HTTP/1.1\r\nHOST\r\n\r\n', ...refused },
  { id: 'R08b', what: 'an unknown method', bytes: 'FOOBAR BASE/x HTTP/1.1\r\nHOST\r\n\r\n', ...refused },
  {
    id: 'R08c',
    what: 'CONNECT',
    bytes: 'CONNECT gw.test:443 HTTP/1.1\r\nHOST\r\n\r\n',
    statuses: [400, 405, 501],
    closes: true,
  },
  {
    id: 'R08d',
    what: 'TRACE with credentials',
    bytes: 'TRACE BASE/x HTTP/1.1\r\nHOST\r\nAuthorization: Bearer evil\r\n\r\n',
    statuses: [400, 405, 501],
  },
  { id: 'R11', what: 'OPTIONS *', bytes: 'OPTIONS * HTTP/1.1\r\nHOST\r\n\r\n', statuses: [200, 204] },
  {
    id: 'L01a',
    what: 'one header of 64 KiB',
    bytes: `GET BASE/x HTTP/1.1\r\nHOST\r\nX-A: ${'a'.repeat(65_536)}\r\n\r\n`,
    statuses: [431],
    closes: true,
  },
  {
    id: 'L01b',
    what: '20,000 headers',
    bytes: `GET BASE/x HTTP/1.1\r\nHOST\r\n${'a:b\r\n'.repeat(20_000)}\r\n`,
    statuses: [431],
    closes: true,
  },
  {
    id: 'L01c',
    what: 'a header name of 64 KiB',
    bytes: `GET BASE/x HTTP/1.1\r\nHOST\r\n${'a'.repeat(65_536)}: b\r\n\r\n`,
    statuses: [431],
    closes: true,
  },
  {
    id: 'L01d',
    what: 'a method of 64 KiB',
    bytes: `${'A'.repeat(65_536)} BASE/x HTTP/1.1\r\nHOST\r\n\r\n`,
    ...refused,
  },
  {
    id: 'L01e',
    what: 'a target of 64 KiB',
    bytes: `GET BASE/${'a'.repeat(65_536)} HTTP/1.1\r\nHOST\r\n\r\n`,
    statuses: [414, 431],
    closes: true,
  },
  {
    id: 'L01f',
    what: '2,500 headers, few enough bytes',
    bytes: `GET BASE/x HTTP/1.1\r\nHOST\r\n${'a:\r\n'.repeat(2500)}X-Sidegate-Client-Id: evil\r\n\r\n`,
    statuses: [431],
    closes: true,
  },
  {
    id: 'L05',
    what: 'Connection that nominates what the gateway sets',
    bytes:
      'GET BASE/x HTTP/1.1\r\nHOST\r\nConnection: close, X-Forwarded-For, Authorization, X-Sidegate-Client-Id, X-Own, X-Sidegate-Grouping\r\nX-Forwarded-For: evil\r\nAuthorization: Bearer evil\r\nX-Sidegate-Client-Id: evil\r\nX-Own: evil\r\n\r\n',
    statuses: [200],
    closes: true,
    forwarded: 1,
  },
  {
    id: 'L05b',
    what: 'hop-by-hop fields',
    bytes:
      'GET BASE/x HTTP/1.1\r\nHOST\r\nKeep-Alive: evil\r\nProxy-Connection: evil\r\nProxy-Authorization: evil\r\nTE: evil\r\nTrailer: evil\r\nUpgrade: evil\r\nHTTP2-Settings: evil\r\n\r\n',
    statuses: [200],
    forwarded: 1,
  },
  {
    id: 'L06',
    what: 'identity fields in every spelling',
    bytes:
      'GET BASE/x HTTP/1.1\r\nHOST\r\nX-Sidegate-Client-Id: evil\r\nx_sidegate_client_id: evil\r\nX-SIDEGATE-CLIENT-ID: evil\r\nX-Sidegate_Scope: evil\r\nX-Sidegate-Anything: evil\r\nX-Request-Id: evil\r\nX-Forwarded-For: evil\r\nX-Forwarded-Proto: evil\r\nX-Forwarded-Host: evil\r\nX-Forwarded-Port: evil\r\nForwarded: for=evil\r\nX-Real-IP: evil\r\nX_Request_Id: evil\r\n\r\n',
    statuses: [200],
    forwarded: 1,
  },
  {
    id: 'L06b',
    what: 'an identity field with a space before its colon',
    bytes: 'GET BASE/x HTTP/1.1\r\nHOST\r\nX-Sidegate-Client-Id : evil\r\n\r\n',
    ...refused,
  },
  {
    id: 'L09a',
    what: 'Expect: 200-ok',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nExpect: 200-ok\r\nContent-Length: 5\r\n\r\nhello',
    statuses: [417],
  },
  {
    id: 'L09b',
    what: 'Expect: 100-continue with the body at hand',
    bytes: 'POST BASE/x HTTP/1.1\r\nHOST\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello',
    statuses: [100],
    forwarded: 1,
    body: /^hello$/,
  },
]
