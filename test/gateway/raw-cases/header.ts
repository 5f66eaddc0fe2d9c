import { neighbours, passed, type RawCase, refused, request, shown } from './raw-case.ts'

const get = (...lines: readonly string[]): string => request('GET BASE/x', lines)

const tooLarge = { statuses: [431], closes: true } as const

/** Header lines that are not a field, or that some servers read as the end of the header. */
const broken: readonly string[] = [
  'X-A: 1\r\n X-Sidegate-Client-Id: evil',
  'X-A: 1\r\n\tX-Sidegate-Client-Id: evil',
  ' X-Sidegate-Client-Id: evil',
  'X-Sidegate-Client-Id : evil',
  'X-Sidegate-Client-Id\t: evil',
  'X-A: 1\rX-Sidegate-Client-Id: evil',
  'X-A: 1\nX-Sidegate-Client-Id: evil',
  'X-A: 1\r\r\nX-B: 2',
  'X-A: 1\0',
  'X-A: 1\x0b2',
  'X-A: 1\x7f',
  'X-A\0: 1',
  'X-\xc4: 1',
  'X A: 1',
  'X(A): 1',
  'X-A',
  ': 1',
  '"X-A": 1',
  '\x0bX-A: 1',
]

const expectations: readonly (readonly [expectation: string, statuses: readonly number[]])[] = [
  ['200-ok', [417]],
  ['100-continue, 200-ok', [417]],
  ['100-continue;evil', [417]],
  ['100', [417]],
  ['100-continue\r\nExpect: 200-ok', [417]],
  ['100-continue', [100]],
  ['100-Continue', [100]],
]

/** Header fields, their limits, and `Expect`. */
export const headerCases: readonly RawCase[] = [
  { id: 'L01a', what: 'one header of 64 KiB', bytes: get(`X-A: ${'a'.repeat(65_536)}`), ...tooLarge },
  { id: 'L01b', what: '20,000 headers', bytes: get('a:b\r\n'.repeat(20_000).trimEnd()), ...tooLarge },
  { id: 'L01c', what: 'a header name of 64 KiB', bytes: get(`${'a'.repeat(65_536)}: b`), ...tooLarge },
  {
    id: 'L01d',
    what: 'a method of 64 KiB',
    bytes: `${'A'.repeat(65_536)} BASE/x HTTP/1.1\r\nHOST\r\n\r\n`,
    ...refused,
  },
  {
    id: 'L01e',
    what: 'a target of 64 KiB',
    bytes: request(`GET BASE/${'a'.repeat(65_536)}`),
    statuses: [414, 431],
    closes: true,
  },
  {
    id: 'L01f',
    what: '2,500 headers within the byte limit',
    bytes: get('a:\r\n'.repeat(2500).trimEnd(), 'X-Sidegate-Client-Id: evil'),
    ...tooLarge,
  },
  { id: 'L01g', what: '101 fields', bytes: get(...Array.from({ length: 100 }, (_, n) => `X-${n}: 1`)), ...tooLarge },
  {
    id: 'L01h',
    what: '100 fields, the last a length',
    bytes: request('POST BASE/x', [...Array.from({ length: 98 }, (_, n) => `X-${n}: 1`), 'Content-Length: 5'], 'hello'),
    ...passed,
    body: /^hello$/,
    fields: { 'x-0': '1', 'x-97': '1' },
  },
  {
    id: 'L01i',
    what: '101 fields, the last a length',
    bytes: request('POST BASE/x', [...Array.from({ length: 99 }, (_, n) => `X-${n}: 1`), 'Content-Length: 5'], 'hello'),
    ...tooLarge,
  },
  { id: 'L01j', what: 'a field of 15 KiB', bytes: get(`X-A: ${'a'.repeat(15_360)}`), ...passed },
  { id: 'L01k', what: 'a header without an end', bytes: get('a: b\r\n'.repeat(5000)).slice(0, -4), ...tooLarge },
  {
    id: 'L01l',
    what: 'a name without an end',
    bytes: `GET BASE/x HTTP/1.1\r\nHOST\r\n${'a'.repeat(100_000)}`,
    ...tooLarge,
  },
  ...neighbours('S28', broken, line => ({ what: `the line ${shown(line)}`, bytes: get(line), ...refused })),
  ...neighbours('S28 first', ['\tHost: gw.test', '\tX-A: 1', 'X-A\0: 1'], line => ({
    what: `the first line ${shown(line)}`,
    bytes: `GET BASE/x HTTP/1.1\r\n${line}\r\nHOST\r\n\r\n`,
    ...refused,
  })),
  { id: 'S27', what: 'a bare LF between header lines', bytes: 'GET BASE/x HTTP/1.1\nHOST\n\n', ...refused },
  { id: 'S27b', what: 'a bare LF at the end', bytes: 'GET BASE/x HTTP/1.1\r\nHOST\r\n\n', ...refused },
  { id: 'S27c', what: 'a bare LF after the Host', bytes: 'GET BASE/x HTTP/1.1\r\nHOST\nX-A: 1\r\n\r\n', ...refused },
  { id: 'S27d', what: 'a bare CR at the end', bytes: 'GET BASE/x HTTP/1.1\r\nHOST\r\n\r\r\n', ...refused },
  ...neighbours('L09', expectations, ([expectation, statuses]) => ({
    what: `Expect: ${shown(expectation)} with the body in the same packet`,
    bytes: request('POST BASE/x', [`Expect: ${expectation}`, 'Content-Length: 5'], 'hello'),
    statuses,
    ...(statuses[0] === 100 ? { forwarded: 1, body: /^hello$/ } : { closes: true }),
    fields: { expect: undefined },
  })),
  {
    id: 'L09 early',
    what: 'Expect: 100-continue without a token is refused before the body',
    bytes: request('POST BASE-guarded/x', ['Expect: 100-continue', 'Content-Length: 5']),
    statuses: [401],
    closes: true,
  },
  {
    id: 'L09 sent',
    what: 'Expect: 100-continue without a token, with a body that looks like a request',
    bytes: request('POST BASE-guarded/x', ['Expect: 100-continue', 'Content-Length: 32'], request('GET BASE/x')),
    statuses: [401],
    closes: true,
  },
  {
    id: 'L09 chunked',
    what: 'Expect: 100-continue with chunks',
    bytes: request('POST BASE/x', ['Expect: 100-continue', 'Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n'),
    statuses: [100],
    forwarded: 1,
    body: /hello/,
  },
  {
    id: 'L09 empty',
    what: 'Expect: 100-continue without a body',
    bytes: get('Expect: 100-continue'),
    statuses: [100, 200],
    forwarded: 1,
  },
  {
    id: 'L09 old',
    what: 'Expect: 100-continue in HTTP/1.0, which has no interim responses',
    bytes: 'POST BASE/x HTTP/1.0\r\nHOST\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello',
    statuses: [200, 417],
    forwarded: 1,
    closes: true,
  },
]
