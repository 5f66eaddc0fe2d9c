import type { Socket } from 'node:net'
import type { RecordedRequest, Script } from '../../support/recording-upstream.ts'

const ok = 'HTTP/1.1 200 OK\r\n'

/** The behaviour of the upstream after a complete request, by the last segment of its path. */
const scripts: Readonly<Record<string, Script>> = {
  silent: () => undefined,
  reset: socket => socket.resetAndDestroy(),
  short: socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
    socket.end('x'.repeat(40_010))
  },
  'no-last-chunk': socket => {
    socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n')
  },
  'broken-chunk': socket => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n')
  },
  'reset-in-body': socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello', () =>
      setImmediate(() => socket.resetAndDestroy()),
    )
  },
  'until-close': socket => {
    socket.end('HTTP/1.1 200 OK\r\n\r\nhello')
  },
  garbage: socket => {
    socket.write('this is not HTTP\r\n\r\n')
  },
  'two-lengths': socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!')
  },
  'length-and-chunked': socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n')
  },
  'coded-for-the-transfer': socket => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n')
  },
  'huge-header': socket => {
    socket.write(`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(200_000)}\r\ncontent-length: 0\r\n\r\n`)
  },
  'unasked-upgrade': socket => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: evil\r\nconnection: upgrade\r\n\r\n')
  },
  'no-content-with-body': socket => {
    socket.write('HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello')
  },
  'not-modified-with-length': socket => {
    socket.write('HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\netag: "a"\r\n\r\n')
  },
  'body-for-head': socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello')
  },
  'interim-answers': socket => {
    socket.write(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
    )
    answer(socket, 'final')
  },
  'odd-names': socket => {
    socket.write('HTTP/1.1 200 OK\r\nconstructor: a\r\n__proto__: b\r\ncontent-length: 2\r\n\r\nok')
  },
  'set-cookies': socket => {
    socket.write('HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nSet-Cookie: b=2\r\ncontent-length: 2\r\n\r\nok')
  },
  'hop-by-hop': socket => {
    socket.write(
      'HTTP/1.1 200 OK\r\nconnection: x-own, keep-alive\r\nx-own: 1\r\nkeep-alive: timeout=1\r\nproxy-authenticate: Basic\r\nx-request-id: evil\r\nx-kept: 1\r\ncontent-length: 2\r\n\r\nok',
    )
  },
  'torn-continue': socket => {
    const bytes = 'HTTP/1.1 100 Continue\r\nx-a: 1\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'
    for (const [at, byte] of [...bytes].entries()) setTimeout(() => socket.write(byte), at)
    setTimeout(() => answer(socket, 'final'), bytes.length)
  },
  'continue-in-body': socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 29\r\n\r\n')
    setTimeout(() => socket.write('HTTP/1.1 100 Continue\r\n\r\nbody'), 20)
  },
  ok: socket => answer(socket, 'ok'),
  'status-099': socket => socket.write('HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n'),
  'status-600': socket => socket.write('HTTP/1.1 600 Odd\r\ncontent-length: 0\r\n\r\n'),
  'status-999': socket => socket.write('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'),
  'status-599': socket => socket.write('HTTP/1.1 599 Odd\r\ncontent-length: 0\r\n\r\n'),
  'status-twenty': socket => socket.write('HTTP/1.1 20 OK\r\n\r\n'),
  'another-version': socket => socket.write('HTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n'),
  'folded-line': socket => socket.write(`${ok}x-a: 1\r\n content-length: 5\r\n\r\nevil!`),
  'bare-line-feed': socket => socket.write(`${ok}x-a: 1\ncontent-length: 5\r\n\r\nevil!`),
  'bare-return': socket => socket.write(`${ok}x-a: 1\rset-cookie: evil\r\ncontent-length: 0\r\n\r\n`),
  'nul-in-value': socket => socket.write(`${ok}x-a: 1\0evil\r\ncontent-length: 0\r\n\r\n`),
  'space-before-colon': socket => socket.write(`${ok}content-length : 5\r\n\r\nevil!`),
  'signed-length': socket => socket.write(`${ok}content-length: +5\r\n\r\nevil!`),
  'length-list': socket => socket.write(`${ok}content-length: 5, 5\r\n\r\nevil!`),
  'two-codings': socket =>
    socket.write(`${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
  'chunks-in-old-version': socket => socket.write('HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'),
  'no-name': socket => socket.write(`${ok}: evil\r\ncontent-length: 0\r\n\r\n`),
  'empty-first-line': socket => socket.write(`\r\n${ok}content-length: 0\r\n\r\n`),
  'too-long-interim': socket => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2500)),
  'header-cut-off': socket => socket.end(`${ok}content-le`),
  'closes-at-once': socket => socket.end(),
  'short-chunk': socket => socket.end(`${ok}transfer-encoding: chunked\r\n\r\n5\r\nhel`),
  'long-chunk': socket => socket.write(`${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n`),
  'negative-chunk': socket => socket.write(`${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n-1\r\n`),
  'trailer-cut-off': socket => socket.end(`${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-a: 1`),
  'reset-until-close': socket => {
    socket.write(`${ok}\r\nhello`, () => setImmediate(() => socket.resetAndDestroy()))
  },
  trailers: socket =>
    socket.write(
      `${ok}transfer-encoding: chunked\r\ntrailer: x-a\r\n\r\n5\r\nhello\r\n0\r\nx-a: evil\r\nset-cookie: evil\r\n\r\n`,
    ),
  'two-answers': socket => socket.write(`${ok}content-length: 5\r\n\r\nfirst${ok}content-length: 4\r\n\r\nevil`),
  'bytes-behind': socket => socket.write(`${ok}content-length: 5\r\n\r\nfirstevil`),
  begun: socket => socket.write(`${ok}content-length: 10\r\n\r\nhello`),
  // Each byte by itself, as an event stream may send them.
  drip: socket => {
    const bytes = `${ok}content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`
    for (const [at, byte] of [...bytes].entries()) setTimeout(() => socket.write(byte), at * 2)
  },
  held: socket => void held.push(socket),
  release: socket => {
    for (const waiting of held.splice(0)) answer(waiting, 'held')
    answer(socket, 'released')
  },
  // Serves the first request of a connection, and resets at the next.
  'reset-when-reused': (socket, { connection }) => {
    if (served.has(connection)) socket.resetAndDestroy()
    else answer(socket, 'first')
    served.add(connection)
  },
}

/** The responses that wait for `release`. */
const held: Socket[] = []

/** Connections on which `reset-when-reused` was asked for. */
const served = new Set<number>()

const answer = (socket: Socket, body: string): void => {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
}

export const follow: Script = (socket, request, count) => scripts[nameOf(request)]?.(socket, request, count)

export const nameOf = ({ target }: RecordedRequest): string => target.slice(target.lastIndexOf('/') + 1)
