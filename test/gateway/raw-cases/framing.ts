import { neighbours, passed, type RawCase, refused, request, shown } from './raw-case.ts'

const smuggled = 'GET /admin HTTP/1.1\r\nHost: gw.test\r\nX-Y: 12345\r\n\r\n'
const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`

const post = (lines: readonly string[], body: string): string => request('POST BASE/x', lines, body)

/** Lines that declare a body in two ways, or in an ambiguous way. */
const undecided: readonly (readonly string[])[] = [
  ['Content-Length: 5', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked', 'Content-Length: 5'],
  ['Transfer-Encoding: chunked', 'Content-Length: 0'],
  ['content-length: 5', 'TRANSFER-ENCODING: CHUNKED'],
  ['Content-Length: 5', 'Transfer-Encoding: identity'],
  ['Content-Length: 5', 'Transfer-Encoding:'],
  ['Content-Length: 5', 'Transfer-Encoding : chunked'],
  ['Content-Length: 5', 'X-A: 1', ' Transfer-Encoding: chunked'],
  ['Content-Length: 5', 'X-A: 1\rTransfer-Encoding: chunked'],
  ['Content-Length: 5', 'X-A: 1\nTransfer-Encoding: chunked'],
  ['Content-Length: 5', 'Transfer-Encoding\0: chunked'],
  ['Content-Length: 5', 'Transfer-Encoding\x0b: chunked'],
]

const lengths: readonly string[] = [
  '5\r\nContent-Length: 10',
  '5\r\nContent-Length: 5',
  '5, 5',
  '5,10',
  '+5',
  '-5',
  '5 5',
  '5.0',
  '5x',
  '0x5',
  '1e1',
  '',
  '99999999999999999999',
  '18446744073709551621',
  '5\0',
  '0\r\nContent-Length: 0',
  '\x0b5',
  '\xa05',
  '"5"',
  '5;a',
  '5_0',
  '-0',
  '0000000000000005',
]

/** Codings that are not exactly `chunked`. */
const codings: readonly string[] = [
  'xchunked',
  'identity',
  'gzip',
  'chunked, gzip',
  'chunked;ext=val',
  'gzip, chunked',
  'chunked\r\nTransfer-Encoding: chunked',
  '\x0bchunked',
  '"chunked"',
  'chunked,',
  ', chunked',
  'chunked, chunked',
  'chunked chunked',
  'chunk',
  'chunked\0',
  '\r\n chunked',
  'chunked\r\nTransfer-Encoding: identity',
  'chunked\x0b',
  '',
  'chunked\r\nTransfer-Encoding:',
  'trailers, chunked',
]

/** Framing and smuggling: the end of a request body. */
export const framingCases: readonly RawCase[] = [
  ...neighbours('S01', undecided, lines => ({
    what: `a body declared in two ways: ${shown(lines.join(' | '))}`,
    bytes: post(lines, '5\r\nhello\r\n0\r\n\r\n'),
    ...refused,
  })),
  {
    id: 'S01 old',
    what: 'Transfer-Encoding in HTTP/1.0, which has no transfer codings',
    bytes: 'POST BASE/x HTTP/1.0\r\nHOST\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ...refused,
  },
  {
    id: 'S01 older',
    what: 'Transfer-Encoding in HTTP/1.0 without keep-alive',
    bytes: 'POST BASE/x HTTP/1.0\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ...refused,
  },
  ...neighbours('S02', lengths, length => ({
    what: `Content-Length: ${shown(length)}`,
    bytes: post([`Content-Length: ${length}`], 'helloworld'),
    statuses: [400, 413],
    closes: true,
  })),
  {
    id: 'S02 colon',
    what: 'a space before the colon of Content-Length',
    bytes: post(['Content-Length : 5'], 'hello'),
    ...refused,
  },
  ...neighbours('S02 good', ['5', '05', '\t5 ', '5\t'], length => ({
    what: `Content-Length: ${shown(length)}`,
    bytes: post([`Content-Length: ${length}`], 'hello'),
    ...passed,
    body: /^hello$/,
  })),
  ...neighbours('S06', codings, coding => ({
    what: `Transfer-Encoding: ${shown(coding)}`,
    bytes: post([`Transfer-Encoding: ${coding}`], '5\r\nhello\r\n0\r\n\r\n'),
    statuses: [400, 501],
    closes: true,
  })),
  ...neighbours('S06 good', ['chunked', 'Chunked', '\tchunked ', 'chunked\t'], coding => ({
    what: `Transfer-Encoding: ${shown(coding)}`,
    bytes: post([`Transfer-Encoding: ${coding}`], '5\r\nhello\r\n0\r\n\r\n'),
    ...passed,
    body: /hello/,
    fields: { 'transfer-encoding': 'chunked', 'content-length': undefined },
  })),
  ...['DELETE', 'OPTIONS', 'GET', 'POST', 'PUT'].map(method => ({
    id: `S13 ${method}`,
    what: `a chunked ${method} whose body looks like a request (CVE-2026-29057)`,
    bytes: request(`${method} BASE/x`, ['Transfer-Encoding: chunked'], chunked),
    ...passed,
    body: /GET \/admin/,
  })),
  ...['DELETE', 'OPTIONS', 'GET'].map(method => ({
    id: `S13 ${method} length`,
    what: `a ${method} with a length whose body looks like a request`,
    bytes: request(`${method} BASE/x`, [`Content-Length: ${smuggled.length}`], smuggled),
    ...passed,
    body: /GET \/admin/,
  })),
  ...['DELETE', 'OPTIONS'].map(method => ({
    id: `S13 ${method} twice`,
    what: `two chunked ${method} requests on one connection, whose bodies look like requests`,
    bytes: request(`${method} BASE/x`, ['Transfer-Encoding: chunked'], chunked).repeat(2),
    statuses: [200],
    further: [[200]],
    forwarded: 2,
    body: /GET \/admin/,
  })),
  {
    id: 'S13 empty',
    what: 'a chunked DELETE without content',
    bytes: request('DELETE BASE/x', ['Transfer-Encoding: chunked'], '0\r\n\r\n'),
    ...passed,
  },
  ...neighbours('S13 nominated', ['Content-Length', 'Transfer-Encoding', 'content-length , close'], name => ({
    what: `Connection: ${name}, which must not remove the framing`,
    bytes: name.startsWith('T')
      ? request('DELETE BASE/x', [`Connection: ${name}`, 'Transfer-Encoding: chunked'], chunked)
      : request('DELETE BASE/x', [`Connection: ${name}`, `Content-Length: ${smuggled.length}`], smuggled),
    statuses: [200, 400],
    forwarded: 1,
    body: /GET \/admin/,
  })),
  ...neighbours(
    'S26',
    [
      'Content_Length: 99',
      'Content.Length: 99',
      'Content-Length_: 99',
      'Transfer_Encoding: chunked',
      'Transfer.Encoding: chunked',
    ],
    line => ({
      what: `${line} beside Content-Length`,
      bytes: post([line, 'Content-Length: 11'], 'hello world'),
      statuses: [200, 400],
      forwarded: 1,
      body: /^hello world$/,
      fields: {
        'content-length': '11',
        'transfer-encoding': undefined,
        'content.length': undefined,
        'transfer.encoding': undefined,
      },
    }),
  ),
]
