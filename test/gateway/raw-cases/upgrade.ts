import { neighbours, passed, type RawCase, refused, request, shown } from './raw-case.ts'

const handshake = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
] as const

const smuggled = request('GET BASE/admin')

/** Handshakes with a fault for which a plain request is refused too. */
const broken: readonly (readonly [what: string, bytes: string])[] = [
  ['with a length', request('GET BASE/x', [...handshake, 'Content-Length: 5'], 'hello')],
  ['with half of its body', request('GET BASE/x', [...handshake, 'Content-Length: 5'], 'he')],
  ['with a length and a request for a body', request('GET BASE/x', [...handshake, 'Content-Length: 40'], smuggled)],
  ['with chunks', request('GET BASE/x', [...handshake, 'Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n')],
  ['with both', request('GET BASE/x', [...handshake, 'Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n')],
  ['with two Hosts', request('GET BASE/x', ['Host: evil', ...handshake])],
  ['without a Host', `GET BASE/x HTTP/1.1\r\n${handshake.join('\r\n')}\r\n\r\n`],
  ['for a target in absolute form', request('GET http://gw.testBASE/x', handshake)],
  ['for a path with dots', request('GET BASE/a/../admin', handshake)],
  ['with a space before a colon', request('GET BASE/x', ['X-A : 1', ...handshake])],
  ['with a folded line', request('GET BASE/x', ['X-A: 1', ' evil', ...handshake])],
]

/** Other upgrades, which are answered as plain requests (RFC 9110 section 7.8). */
const plain: readonly (readonly string[])[] = [
  ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: evil'],
  ['Connection: Upgrade', 'Upgrade: websocket, h2c'],
  ['Connection: Upgrade', 'Upgrade: TLS/1.0'],
  ['Connection: Upgrade', 'Upgrade: evil'],
  ['Connection: Upgrade'],
  ['Upgrade: websocket'],
  ['Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: h2c'],
  ['Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: websocket'],
]

/** Requests for another protocol; the upstreams support none. */
export const upgradeCases: readonly RawCase[] = [
  ...neighbours('W01', broken, ([what, bytes]) => ({ what: `a handshake ${what}`, bytes, ...refused })),
  ...neighbours('W02', plain, lines => ({
    what: `a GET with ${shown(lines.join(' | '))}`,
    bytes: request('GET BASE/x', lines),
    ...passed,
    fields: { upgrade: undefined, 'http2-settings': undefined },
  })),
  ...['POST', 'PUT', 'DELETE', 'OPTIONS'].map(method => ({
    id: `W03 ${method}`,
    what: `a ${method} that asks for a WebSocket, with a body that is longer than declared`,
    bytes: request(`${method} BASE/x`, [...handshake, `Content-Length: ${smuggled.length}`], smuggled),
    ...passed,
    // The bytes behind the declared length are read as the next request.
    further: [[400]],
    closes: true,
    body: /GET .*\/admin/,
    fields: { upgrade: undefined },
  })),
  {
    id: 'W03 chunks',
    what: 'a POST that asks for a WebSocket, with a broken chunk',
    bytes: request('POST BASE/x', [...handshake, 'Transfer-Encoding: chunked'], 'zz\r\nhello\r\n0\r\n\r\n'),
    ...refused,
    forwarded: 1,
    body: /^$/,
  },
  {
    id: 'W04 empty',
    what: 'a handshake with the length 0, which has no body',
    bytes: request('GET BASE/x', [...handshake, 'Content-Length: 0']),
    statuses: [200, 502],
    closes: true,
    forwarded: 1,
  },
  {
    id: 'W08',
    what: 'a handshake in HTTP/1.0, which has no upgrades',
    bytes: request('GET BASE/x', handshake).replace('HTTP/1.1', 'HTTP/1.0'),
    ...passed,
    fields: { upgrade: undefined },
  },
  {
    id: 'W04',
    what: 'a handshake that its upstream answers as a plain request',
    bytes: request('GET BASE/x', [...handshake, 'X-Sidegate-Client-Id: evil', 'X-Forwarded-For: evil']),
    statuses: [200, 502],
    closes: true,
    forwarded: 1,
  },
  {
    id: 'W05',
    what: 'a handshake without a token',
    bytes: request('GET BASE-guarded/x', handshake),
    statuses: [401],
    closes: true,
  },
  {
    id: 'W06',
    what: 'a handshake for an unknown path',
    bytes: request('GET /nowhere', handshake),
    statuses: [404],
    closes: true,
  },
  {
    id: 'W07',
    what: 'a request behind a refused handshake is not answered',
    bytes: request('GET /nowhere', handshake) + request('GET BASE/x'),
    statuses: [404],
    closes: true,
  },
]
