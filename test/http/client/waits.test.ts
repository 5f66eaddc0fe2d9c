import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import t from 'tap'
import type { OpenSocket } from '../../../src/http/client/connector.ts'
import type { ConnectionLimits } from '../../../src/http/client/timeouts.ts'
import { eventually } from '../../support/eventually.ts'
import { answering, ask, get, hello, openPool, RoundTrip, startServer, tcp } from './support/round-trips.ts'

const soon = 50

/** A TLS handshake without a response: the connection is open and cannot be used. */
const unanswered =
  (url: string): OpenSocket =>
  (onread, onReady) =>
    connectTls({ host: '127.0.0.1', port: Number(new URL(url).port), ...(onread && { onread }) }, onReady)

t.test('each wait has an end of its own, and says what it was for', async t => {
  const cases: readonly {
    readonly what: string
    readonly limits: Partial<ConnectionLimits>
    readonly says?: string
    readonly kind: string
    readonly open?: (url: string) => OpenSocket
  }[] = [
    { what: 'a connection', limits: { connectTimeoutMs: soon }, kind: 'unreachable', open: unanswered },
    { what: 'a header', limits: { headersTimeoutMs: soon }, kind: 'late' },
    { what: 'the rest of a header', limits: { headersTimeoutMs: soon }, says: 'HTTP/1.1 200 OK\r\n', kind: 'late' },
    {
      what: 'a final header',
      limits: { headersTimeoutMs: soon },
      says: 'HTTP/1.1 103 Early Hints\r\n\r\n',
      kind: 'late',
    },
    { what: 'the rest of a body', limits: { bodyTimeoutMs: soon }, says: hello.slice(0, -1), kind: 'late' },
    { what: 'the end of a body', limits: { bodyTimeoutMs: soon }, says: 'HTTP/1.1 200 OK\r\n\r\nhello', kind: 'late' },
    { what: 'all of an answer', limits: { totalTimeoutMs: soon }, says: hello.slice(0, -1), kind: 'late' },
  ]
  for (const { what, limits, says = '', kind, open = tcp } of cases) {
    const server = await startServer(t, socket => socket.once('data', () => socket.write(says)))
    const trip = new RoundTrip(openPool(t, server.url, limits, open(server.url)), {
      ...get,
      startedAtMs: performance.now(),
    })

    // A timer of the same event loop is as late as the wait itself, so that a busy machine changes nothing.
    const failure = await Promise.race([trip.failure, sleep(15 * soon, 'the wait is far too long', { ref: false })])
    t.match(failure, { kind }, what)
    await eventually(() => server.openConnections() === 0)
  }
})

t.test('a wait that is not over is not ended: each piece of a body begins it anew', async t => {
  const body = 'a'.repeat(60)
  const server = await startServer(t, socket =>
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`)
      say(socket, body, 20)
    }),
  )
  const trip = new RoundTrip(openPool(t, server.url, { bodyTimeoutMs: 1000 }))

  t.equal(await trip.failure, undefined)
  t.equal(trip.body, body)
})

t.test('a head that arrives in pieces has as much time as any other', async t => {
  const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n'
  for (const text of [hello.replace('\r\n', `\r\nX-A: ${'a'.repeat(400)}\r\n`), hints.repeat(15) + hello]) {
    const server = await startServer(t, socket => socket.once('data', () => say(socket, text, 5)))
    const trip = new RoundTrip(openPool(t, server.url, { headersTimeoutMs: soon }))

    t.match(await trip.failure, { kind: 'late' })
    await eventually(() => server.openConnections() === 0)
  }
})

/** A byte at a time, so many milliseconds apart. */
const say = (socket: Socket, text: string, apartMs: number): void => {
  socket.write(text.slice(0, 1))
  if (text.length > 1 && !socket.destroyed) setTimeout(() => say(socket, text.slice(1), apartMs), apartMs)
}

t.test('an idle connection is kept for as long as we may, and not longer than the server says', async t => {
  const hinting = (hint: string) => hello.replace('\r\n', `\r\nKeep-Alive: ${hint}\r\n`)
  for (const [bytes, keepAliveMs] of [
    [hello, soon],
    [hinting('timeout=60'), soon],
    [hinting('timeout=2, max=5'), 60_000],
  ] as const) {
    const server = await startServer(t, answering(bytes))
    t.equal(await ask(openPool(t, server.url, { keepAliveMs })), 'hello')

    await eventually(() => server.openConnections() === 0)
    t.equal(server.sockets.length, 1, bytes)
  }
})
