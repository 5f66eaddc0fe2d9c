import { neighbours, type RawCase, refused, shown } from './raw-case.ts'

/** Paths that upstreams decode, merge or cut in different ways. */
const paths: readonly string[] = [
  'BASE/a/%2e%2e/admin',
  'BASE/a/..%2fadmin',
  'BASE/a/../admin',
  'BASE/a;x=1/admin',
  'BASE/%00',
  'BASE/a\\..\\admin',
  'BASE/a/%5c../admin',
  'BASE/./admin',
  'BASE/a/..',
  'BASE/%zz',
  'BASE/a#/../admin',
  'BASE/a?x=1#client_secret=evil',
  'BASE//admin',
  'BASE/%0d%0aX-Sidegate-Client-Id:evil',
  'BASE/caf\xe9',
  'BASE/a/%2E%2E/admin',
  'BASE/a/.%2e/admin',
  'BASE/a/%2F../admin',
  'BASE/a/..;/admin',
  'BASE/a/%3b/admin',
  'BASE/a%5Cadmin',
  'BASE/a%09b',
  'BASE/a%7f',
  'BASE/%',
  'BASE/%2',
  'BASE/%u002e%u002e/admin',
  'BASE/a/.',
  'BASE/..',
  '//BASE/x',
  '/.BASE/x',
  '/..BASE/x',
  '../BASE/x',
  '?BASE/x',
  'http:BASE/x',
  'gw.test:80',
  '*',
]

/** Escapes with one meaning, which are forwarded unchanged. */
const plainPaths: readonly string[] = [
  'BASE/a/%252e%252e/admin',
  'BASE/%c0%ae%c0%ae/admin',
  'BASE/a%20b',
  'BASE/a?x=%00%0d%0a/../',
  'BASE/a?b?c',
  'BASE/a/...',
]

const lines: readonly string[] = [
  'get BASE/x HTTP/1.1',
  'Get BASE/x HTTP/1.1',
  'FOOBAR BASE/x HTTP/1.1',
  'G ET BASE/x HTTP/1.1',
  'GET\0 BASE/x HTTP/1.1',
  'GET\tBASE/x HTTP/1.1',
  ' GET BASE/x HTTP/1.1',
  'GET BASE/x HTTP/1.1 ',
  'GET BASE/x y HTTP/1.1',
  'GET BASE/x\ty HTTP/1.1',
  'GET BASE/x\x01 HTTP/1.1',
  'GET BASE/x\x7f HTTP/1.1',
  'GET BASE/x HTTP/1.2',
  'GET BASE/x HTTP/2.0',
  'GET BASE/x HTTP/0.9',
  'GET BASE/x http/1.1',
  'GET BASE/x HTTP/1',
  'GET BASE/x HTTP/11.1',
  'GET BASE/x HTTP-1.1',
  'GET BASE/x HTTPS/1.1',
  'GET BASE/x',
  'GET HTTP/1.1',
  'BASE/x HTTP/1.1',
  'HTTP/1.1 200 OK',
  'PRI * HTTP/1.1',
]

/** Lines that some servers read as a plain request line. */
const malformed: readonly string[] = [
  'GET  BASE/x HTTP/1.1',
  'GET BASE/x  HTTP/1.1',
  'GET   BASE/x   HTTP/1.1',
  'GET BASE/x RTSP/1.0',
  'GET BASE/x HTTP/1.01',
  'GET BASE/x HTTP/1.1.1',
  'GET BASE/x HTTP/1.1\0',
  'SOURCE BASE/x ICE/1.0',
]

/** Bytes before a request line that a server may not skip. */
const prefixes: readonly string[] = ['\n', '\r', ' ', '\0', '\xef\xbb\xbf']

/** Bytes of other protocols, as they are sent to the wrong port. */
const otherProtocols: readonly string[] = [
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'SSH-2.0-OpenSSH_9.7\r\n',
  '*1\r\n$4\r\nPING\r\n',
  'EHLO gw.test\r\n',
  'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET BASE/x HTTP/1.1\r\nHOST\r\n\r\n',
]

/** The request line: method, target and version. */
export const requestLineCases: readonly RawCase[] = [
  {
    id: 'R04',
    what: 'a target in absolute form',
    bytes: 'GET http://other.test/BASE/x HTTP/1.1\r\nHOST\r\n\r\n',
    statuses: [400, 404, 421],
  },
  ...neighbours(
    'R04',
    ['http://gw.testBASE/x', 'https://gw.testBASE/x', 'HTTP://gw.testBASE/x', 'ws://gw.testBASE/x'],
    target => ({
      what: `the target ${target}`,
      bytes: `GET ${target} HTTP/1.1\r\nHOST\r\n\r\n`,
      ...refused,
    }),
  ),
  ...neighbours('R06', paths, path => ({
    what: `the path ${shown(path)}`,
    bytes: `GET ${path} HTTP/1.1\r\nHOST\r\n\r\n`,
    ...refused,
  })),
  ...neighbours('R06 good', plainPaths, path => ({
    what: `the path ${shown(path)}`,
    bytes: `GET ${path} HTTP/1.1\r\nHOST\r\n\r\n`,
    statuses: [200, 400],
    forwarded: 1,
  })),
  ...neighbours('R08', lines, line => ({
    what: `the request line ${shown(line)}`,
    bytes: `${line}\r\nHOST\r\n\r\n`,
    statuses: [400, 405, 501, 505],
    closes: true,
  })),
  ...neighbours('R08 malformed', malformed, line => ({
    what: `the request line ${shown(line)}`,
    bytes: `${line}\r\nHOST\r\n\r\n`,
    ...refused,
  })),
  ...neighbours('R09', otherProtocols, bytes => ({ what: `the bytes ${shown(bytes)}`, bytes, ...refused })),
  ...neighbours('R08 CONNECT', ['gw.test:443', 'BASE/x', '127.0.0.1:22', 'gw.test'], target => ({
    what: `CONNECT ${target}`,
    bytes: `CONNECT ${target} HTTP/1.1\r\nHOST\r\n\r\nGET BASE/x HTTP/1.1\r\nHOST\r\n\r\n`,
    statuses: [400, 405, 501],
    closes: true,
  })),
  ...neighbours('R08 TRACE', ['', 'Content-Length: 5\r\n', 'Max-Forwards: 0\r\n'], more => ({
    what: `TRACE with credentials ${shown(more)}`,
    bytes: `TRACE BASE/x HTTP/1.1\r\nHOST\r\nAuthorization: Bearer evil\r\n${more}\r\n${more.startsWith('C') ? 'hello' : ''}`,
    statuses: [400, 405, 501],
  })),
  { id: 'R11', what: 'OPTIONS *', bytes: 'OPTIONS * HTTP/1.1\r\nHOST\r\n\r\n', statuses: [200, 204] },
  {
    id: 'R11a',
    what: 'OPTIONS * as the last request of its connection',
    bytes: 'OPTIONS * HTTP/1.1\r\nHOST\r\nConnection: close\r\n\r\n',
    statuses: [204],
  },
  { id: 'R11b', what: 'OPTIONS * without a Host', bytes: 'OPTIONS * HTTP/1.1\r\n\r\n', ...refused },
  {
    id: 'R12',
    what: 'an empty line before the request',
    bytes: '\r\nGET BASE/x HTTP/1.1\r\nHOST\r\n\r\n',
    statuses: [200],
    forwarded: 1,
  },
  ...neighbours('R12', prefixes, prefix => ({
    what: `${shown(prefix)} before the request line`,
    bytes: `${prefix}GET BASE/x HTTP/1.1\r\nHOST\r\n\r\n`,
    ...refused,
  })),
  ...neighbours('R12 between', prefixes, prefix => ({
    what: `${shown(prefix)} between two requests`,
    bytes: `GET BASE/x HTTP/1.1\r\nHOST\r\n\r\n${prefix}GET BASE/y HTTP/1.1\r\nHOST\r\n\r\n`,
    statuses: [200],
    further: [[400]],
    forwarded: 1,
    closes: true,
  })),
]
