import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import t, { type Test } from 'tap'
import type { ConnectionPool } from '../../../src/http/client/pool.ts'
import type { BodySource } from '../../../src/http/message/body-source.ts'
import { createCertificates } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { openConnection } from '../../support/raw-client.ts'
import { type Answer, reply, startHttpServer, startTlsHttpServer } from '../support/http-server.ts'
import { get, hello, openPool, RoundTrip, type ScriptedServer, startServer } from './support/round-trips.ts'

/** A server in front that hands the body of each request on to the pool, and answers with what became of it. */
const startFront = async (
  t: Test,
  pool: ConnectionPool,
  framing: string,
  start: (t: Test, answer: Answer) => Promise<{ readonly url: string }> = startHttpServer,
) => {
  const trips: RoundTrip[] = []
  let goneClients = 0
  const { url } = await start(t, ({ body }, response) => {
    if (body === undefined) throw new Error('every request of these tests has a body')
    const trip = new RoundTrip(pool, postOf(body, framing))
    trips.push(trip)
    const onClose = (): void => {
      goneClients++
      trip.connection.abort()
    }
    response.listener = { onClose, onDrain: () => undefined }
    void trip.failure.then(failure => reply(response, failure?.kind ?? trip.body))
  })
  return { url, trips, goneClients: () => goneClients }
}

const chunks = 'Transfer-Encoding: chunked'

const postOf = (body: BodySource, framing: string) => ({
  ...get,
  method: 'POST',
  head: `POST / HTTP/1.1\r\nHost: up.test\r\n${framing}\r\n\r\n`,
  body,
  isChunked: framing === chunks,
})

/** A server that records the bytes it receives; it answers after the end of the request. */
const startHearing = async (t: Test, end: string): Promise<ScriptedServer & { heard(): string }> => {
  let heard = ''
  const server = await startServer(t, socket => {
    socket.on('data', bytes => {
      heard += bytes.toString('latin1')
      if (heard.endsWith(end)) socket.write(hello)
    })
  })
  return { ...server, heard: () => heard }
}

const post = (framing: string, body: string): string => `POST / HTTP/1.1\r\nHost: gw.test\r\n${framing}\r\n\r\n${body}`

t.test('a body with a length goes as it came, and the connection serves again', async t => {
  const server = await startHearing(t, 'hello')
  const front = await startFront(t, openPool(t, server.url), 'Content-Length: 5')
  const client = openConnection(t, front.url)

  for (const nth of [1, 2]) {
    t.equal((await client.send(post('Content-Length: 5', 'hello')).answer()).body.toString(), 'hello', `${nth}`)
  }
  t.equal(server.heard(), 'POST / HTTP/1.1\r\nHost: up.test\r\nContent-Length: 5\r\n\r\nhello'.repeat(2))
  t.equal(server.sockets.length, 1)
})

t.test('a body in chunks ends with the last chunk: neither extensions nor trailers are handed on', async t => {
  const server = await startHearing(t, '0\r\n\r\n')
  const front = await startFront(t, openPool(t, server.url), chunks)
  const client = openConnection(t, front.url)
  client.send(post(chunks, '2;a=evil\r\nhe\r\n3\r\nllo\r\n0\r\nX-Sidegate-Client-Id: evil\r\n\r\n'))

  t.equal((await client.answer()).body.toString(), 'hello')
  t.match(server.heard(), /\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n$/)
})

t.test('a body in chunks without content is the last chunk alone', async t => {
  const server = await startHearing(t, '0\r\n\r\n')
  const front = await startFront(t, openPool(t, server.url), chunks)

  t.equal((await openConnection(t, front.url).send(post(chunks, '0\r\n\r\n')).answer()).status, 200)
  t.match(server.heard(), /\r\n\r\n0\r\n\r\n$/)
})

t.test('the first piece of a body leaves before the last has come', async t => {
  const server = await startHearing(t, 'hello')
  const front = await startFront(t, openPool(t, server.url), 'Content-Length: 5')
  const client = openConnection(t, front.url).send(post('Content-Length: 5', 'he'))

  await eventually(() => server.heard().endsWith('\r\n\r\nhe'))
  t.equal((await client.send('llo').answer()).body.toString(), 'hello')
})

t.test('a client that leaves in mid-body leaves no whole request behind', async t => {
  for (const [framing, begun] of [
    ['Content-Length: 5', 'he'],
    [chunks, '2\r\nhe\r\n'],
  ] as const) {
    const server = await startHearing(t, 'llo')
    const front = await startFront(t, openPool(t, server.url), framing)
    const client = openConnection(t, front.url).send(post(framing, begun))
    await eventually(() => server.heard().includes('he'))
    client.reset()

    await eventually(() => server.openConnections() === 0)
    t.notMatch(server.heard(), /0\r\n\r\n/, framing)
  }
})

const most = 64 * 1024 * 1024

/** A client that sends on and on, as fast as it is read. @returns how many bytes have left it */
const pour = (t: Test, url: string, bytes = most): { sent(): number; readonly status: Promise<number> } => {
  const client = httpRequest(url, { method: 'POST', headers: { 'content-length': bytes } })
  const piece = Buffer.alloc(65_536, 'a')
  let sent = 0
  const pump = (): void => {
    while (sent < bytes && !client.destroyed) {
      sent += piece.length
      if (!client.write(piece)) return void client.once('drain', pump)
    }
    client.end()
  }
  client.on('error', () => undefined)
  t.teardown(() => client.destroy())
  const status = once(client, 'response').then(([answer]: IncomingMessage[]) => {
    answer?.resume()
    return answer?.statusCode ?? 0
  })
  pump()
  return { sent: () => sent, status }
}

const standsStill = async (value: () => number): Promise<void> => {
  let before = -1
  let same = 0
  await eventually(() => {
    same = value() === before ? same + 1 : 0
    before = value()
    return same > 20
  })
}

t.test('a server that does not read stops the client, and lets it go on when it does', async t => {
  const server = await startServer(t, socket => socket.pause())
  const front = await startFront(t, openPool(t, server.url), `Content-Length: ${most}`)
  const { sent, status } = pour(t, front.url)
  await standsStill(sent)
  const [socket] = server.sockets

  t.ok(sent() < most / 2, `stopped after ${sent()} bytes`)
  let heard = 0
  socket?.on('data', bytes => {
    heard += bytes.length
    if (heard > most) socket.write(hello)
  })
  socket?.resume()
  t.equal(await status, 200)
})

t.test(
  'an answer before the end of the body arrives whole, and its connection is not used again (RFC 9112 section 9.5; checklist U10)',
  async t => {
    const early: readonly ((socket: Socket) => void)[] = [
      socket => socket.write(hello),
      socket => socket.end(hello),
      socket => socket.end(hello.replace('200 OK', '413 Content Too Large')),
      socket => socket.end(hello.replace('200 OK', '413 Content Too Large\r\nConnection: close')),
      // It closes with the body unread: what is sent after that resets the connection.
      socket => {
        socket.pause()
        socket.write(hello.replace('200 OK', '413 Content Too Large\r\nConnection: close'), () => socket.destroy())
      },
    ]
    for (const [nth, script] of early.entries()) {
      const server = await startServer(t, socket => void socket.once('data', () => script(socket)))
      const front = await startFront(t, openPool(t, server.url), `Content-Length: ${most}`)
      const { status } = pour(t, front.url)

      t.equal(await status, 200, `script ${nth}`)
      t.match(front.trips[0], { body: 'hello' }, `script ${nth}`)
      await eventually(() => server.openConnections() === 0)
    }
  },
)

t.test(
  'an answer that begins before the end of the body does not end it: both go on (RFC 9112 section 9.5; checklist U10)',
  async t => {
    const server = await startServer(t, socket => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst'))
      socket.on('data', bytes => void (bytes.includes('last') && socket.write('later')))
    })
    const front = await startFront(t, openPool(t, server.url), 'Content-Length: 9')
    const client = openConnection(t, front.url).send(post('Content-Length: 9', 'begin'))
    await eventually(() => front.trips[0]?.body === 'first')
    client.send('last')

    t.equal((await client.answer()).body.toString(), 'firstlater')
  },
)

t.test('a client that resets its connection while nothing of its body is taken is noticed', async t => {
  const { server: certificate } = createCertificates(t)
  const ways = {
    plain: startHttpServer,
    tls: (t: Test, answer: Answer) => startTlsHttpServer(t, answer, certificate),
  }
  for (const [way, start] of Object.entries(ways)) {
    const deaf = await startServer(t, socket => socket.pause())
    const front = await startFront(t, openPool(t, deaf.url), `Content-Length: ${most}`, start)
    const raw = connect(Number(new URL(front.url).port), '127.0.0.1').on('error', () => undefined)
    const client = way === 'tls' ? connectTls({ socket: raw, rejectUnauthorized: false }) : raw
    client.on('error', () => undefined).write(post(`Content-Length: ${most}`, ''))
    client.write(Buffer.alloc(most))
    await standsStill(() => raw.bytesWritten)
    t.equal(front.goneClients(), 0, way)
    raw.resetAndDestroy()

    await eventually(() => front.goneClients() === 1)
  }
})
