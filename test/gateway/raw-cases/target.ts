import { type RawCase, refused } from './raw-case.ts'

const path = (letter: string, target: string): RawCase => ({
  id: `R06${letter}`,
  what: `the path ${target}`,
  bytes: `GET ${target} HTTP/1.1\r\nHOST\r\n\r\n`,
  ...refused,
})

/** Request line, host and path. */
export const targetCases: readonly RawCase[] = [
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
]
