import type { Socket } from 'node:net'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'
import { answering, ask, get, hello, openPool, RoundTrip, startServer, tcp } from './support/round-trips.ts'

const head = { ...get, method: 'HEAD', head: get.head.replace('GET', 'HEAD') }

t.test('a connection serves again only where request and answer have ended cleanly', async t => {
  const cases: readonly (readonly [what: string, bytes: string, isKept: boolean])[] = [
    ['a declared length', hello, true],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n', true],
    ['trailers', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-A: 1\r\n\r\n', true],
    ['interim answers', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${hello}`, true],
    ['HTTP/1.0 with keep-alive', 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello', true],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello', false],
    ['Connection: close', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello', false],
    ['a byte behind the end', `${hello}\n`, false],
    ['a second answer', hello + hello, false],
    [
      'a byte behind the last chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n\r\n',
      false,
    ],
    [
      'a time that is as good as over',
      'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 5\r\n\r\nhello',
      false,
    ],
  ]
  for (const [what, bytes, isKept] of cases) {
    const server = await startServer(t, answering(bytes))
    const pool = openPool(t, server.url)

    t.equal(await ask(pool), 'hello', what)
    if (!isKept) await eventually(() => server.openConnections() === 0)
    t.equal(await ask(pool), 'hello', what)
    t.equal(server.sockets.length, isKept ? 1 : 2, what)
  }
})

t.test(
  'answers without a body are read as such, and a connection where one may yet come is not used again (RFC 9112 section 6.3; checklist U08)',
  async t => {
    const cases = [
      ['HTTP/1.1 204 No Content\r\n\r\n', get, true],
      ['HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n', get, false],
      ['HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello', get, false],
      ['HTTP/1.1 304 Not Modified\r\n\r\n', get, true],
      ['HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', get, false],
      ['HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n', get, false],
      ['HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', get, false],
      ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', head, true],
      ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', head, false],
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', head, false],
      ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', head, false],
      ['HTTP/1.1 200 OK\r\n\r\n', head, true],
    ] as const
    for (const [bytes, request, isKept] of cases) {
      const what = `${request.method} ${JSON.stringify(bytes)}`
      const server = await startServer(t, answering(bytes))
      const pool = openPool(t, server.url)

      t.equal(await ask(pool, request), '', what)
      if (!isKept) await eventually(() => server.openConnections() === 0)
      t.equal(await ask(pool, request), '', what)
      t.equal(server.sockets.length, isKept ? 1 : 2, what)
    }
  },
)

t.test('bytes on an idle connection answer no request: the connection is closed', async t => {
  for (const bytes of [hello, 'HTTP/1.1 408 Request Timeout\r\n\r\n', '\r\n']) {
    const server = await startServer(t, (socket, count) =>
      socket.on('data', () => socket.write(hello.replace('hello', `no. ${count}`))),
    )
    const pool = openPool(t, server.url)
    await ask(pool)
    server.sockets[0]?.write(bytes)

    await eventually(() => server.openConnections() === 0)
    t.equal(await ask(pool), 'no. 2')
  }
})

t.test('an idle connection that the server closes is not used again', async t => {
  for (const end of [(socket?: Socket) => socket?.end(), (socket?: Socket) => socket?.resetAndDestroy()]) {
    const server = await startServer(t, answering(hello))
    const opened: Socket[] = []
    const pool = openPool(t, server.url, {}, (onread, onReady) => {
      const socket = tcp(server.url)(onread, onReady)
      opened.push(socket)
      return socket
    })
    await ask(pool)
    end(server.sockets[0])

    await eventually(() => opened[0]?.destroyed)
    t.equal(await ask(pool), 'hello')
    t.equal(opened.length, 2)
  }
})

t.test('requests at one time go over connections of their own, those after them over what is idle', async t => {
  const server = await startServer(t, answering(hello))
  const pool = openPool(t, server.url)

  t.same(await Promise.all([ask(pool), ask(pool), ask(pool)]), ['hello', 'hello', 'hello'])
  t.same(await Promise.all([ask(pool), ask(pool), ask(pool)]), ['hello', 'hello', 'hello'])
  t.equal(server.sockets.length, 3)
})

t.test('a failure says how far it got', async t => {
  const cases = [
    ['before an answer', (socket: Socket) => socket.end(), 'closed'],
    ['by a reset', (socket: Socket) => socket.resetAndDestroy(), 'closed'],
    ['after an interim answer', (socket: Socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n'), 'closed'],
    ['in mid-head', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'), 'closed'],
    ['in mid-body', (socket: Socket) => socket.end(hello.slice(0, -1)), 'broken-off'],
    ['by what is no answer', (socket: Socket) => socket.write('garbage'), 'invalid'],
    ['by an upgrade that was not requested', (socket: Socket) => socket.write('HTTP/1.1 101 A\r\n\r\n'), 'invalid'],
    [
      'by an invalid chunk',
      (socket: Socket) => socket.write(`${hello.replace(/C.*5/, 'Transfer-Encoding: chunked')}\r\n`),
      'broken-off',
    ],
  ] as const
  for (const [what, script, kind] of cases) {
    const server = await startServer(t, socket => socket.once('data', () => script(socket)))
    const failure = await new RoundTrip(openPool(t, server.url)).failure

    t.match(failure, { kind, wasReused: false }, what)
    await eventually(() => server.openConnections() === 0)
  }
})

t.test('a server that is not there is unreachable', async t => {
  const pool = openPool(t, `http://127.0.0.1:${await findFreePort()}`)

  t.match(await new RoundTrip(pool).failure, { kind: 'unreachable' })
})

t.test('a connection that was used before and ends before a response is reported as reused', async t => {
  const server = await startServer(t, socket => {
    socket.once('data', () => {
      socket.write(hello)
      socket.once('data', () => socket.resetAndDestroy())
    })
  })
  const pool = openPool(t, server.url)
  await ask(pool)

  t.match(await new RoundTrip(pool).failure, { kind: 'closed', wasReused: true })
})

t.test('after an abort the handler is not called, and the server sees the connection end', async t => {
  const server = await startServer(t, socket => socket.once('data', () => socket.write(hello.slice(0, -2))))
  const pool = openPool(t, server.url)
  const trip = new RoundTrip(pool)
  await eventually(() => trip.body === 'hel')
  trip.connection.abort()

  await eventually(() => server.openConnections() === 0)
  server.sockets[0]?.destroy()
  t.equal(trip.body, 'hel')
})

t.test('an abort before the connection is open leaves no open connection', async t => {
  const server = await startServer(t, () => undefined)
  const trip = new RoundTrip(openPool(t, server.url))
  trip.connection.abort()

  const other = new RoundTrip(openPool(t, server.url))
  await eventually(() => server.sockets.length > 0)
  await eventually(() => server.openConnections() <= 1)
  other.connection.abort()
  await eventually(() => server.openConnections() === 0)
})

t.test('a pool that closes ends what is idle, and fails what is under way', async t => {
  let asked = 0
  const server = await startServer(t, (socket, count) =>
    socket.on('data', () => {
      asked += 1
      if (count < 3) socket.write(hello)
    }),
  )
  const pool = openPool(t, server.url)
  await Promise.all([ask(pool), ask(pool)])
  const trips = [new RoundTrip(pool), new RoundTrip(pool), new RoundTrip(pool)]
  await eventually(() => asked === 5)
  pool.close()

  t.match(await trips[2]?.failure, { message: /closes/ })
  await eventually(() => server.openConnections() === 0)
})
