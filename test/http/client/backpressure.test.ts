import { createHash } from 'node:crypto'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import type { OpenSocket } from '../../../src/http/client/connector.ts'
import { createCertificates } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { ask, openPool, RoundTrip, startServer, tcp } from './support/round-trips.ts'

const { ca, server: certificate } = createCertificates(t)

/** @param ca verifies the server; undefined: the public CAs do */
const secure =
  (url: string, ca?: string): OpenSocket =>
  (onread, onReady) => {
    const address = { host: '127.0.0.1', port: Number(new URL(url).port), ...(ca !== undefined && { ca }) }
    return connectTls({ ...address, ...(onread && { onread }) }, onReady)
  }

/** The two ways to a server: what holds for one must hold for the other. */
const ways = {
  plain: { server: () => createTcpServer(), open: tcp },
  tls: {
    server: () => createTlsServer({ cert: certificate.cert, key: certificate.key }),
    open: (url: string): OpenSocket => secure(url, ca.cert),
  },
} as const

const total = 50 * 1024 * 1024
/** At no power of two, so that a lost or doubled piece shows. */
const content = Buffer.alloc(total, 'what is written is what is read; ')

/** Writes as fast as it is read, in chunks or not. */
const pour = (socket: Socket, isChunked: boolean): { written(): number } => {
  let written = 0
  const pump = (): void => {
    while (written < total) {
      const piece = content.subarray(written, written + 100_000)
      written += piece.length
      if (isChunked) socket.write(`${piece.length.toString(16)}\r\n`)
      const hasRoom = socket.write(piece)
      if (isChunked) socket.write(written < total ? '\r\n' : '\r\n0\r\n\r\n')
      if (!hasRoom && written < total) return void socket.once('drain', pump)
    }
  }
  socket.write(`HTTP/1.1 200 OK\r\n${isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${total}`}\r\n\r\n`)
  pump()
  return { written: () => written }
}

/** A reader that pauses at each piece until the test resumes it. */
class SlowReader extends RoundTrip {
  readonly digest = createHash('sha256')
  bytes = 0
  isSlow = true

  override onData(piece: Buffer): void {
    this.digest.update(piece)
    this.bytes += piece.length
    if (this.isSlow || this.bytes % 7 === 0) this.connection.pause()
    if (!this.isSlow) setImmediate(() => this.connection.resume())
  }
}

const standsStill = async (value: () => number): Promise<void> => {
  let before = -1
  let same = 0
  await eventually(() => {
    same = value() === before ? same + 1 : 0
    before = value()
    return before > 0 && same > 20
  })
}

const start = (t: Test, name: string, script: (socket: Socket) => void) =>
  startServer(t, script, name === 'tls' ? ways.tls.server() : ways.plain.server())

for (const [name, way] of Object.entries(ways)) {
  for (const isChunked of [false, true]) {
    const how = `${name}, ${isChunked ? 'in chunks' : 'with a length'}`

    t.test(`the client does not read ahead of a paused reader, which loses nothing: ${how}`, async t => {
      let written = (): number => 0
      const server = await start(t, name, socket =>
        socket.once('data', () => {
          written = pour(socket, isChunked).written
        }),
      )
      const trip = new SlowReader(openPool(t, server.url, {}, way.open(server.url)))
      await standsStill(() => trip.bytes)
      const heldBytes = written() - trip.bytes

      t.ok(trip.bytes < 1024 * 1024, `stopped after ${trip.bytes} bytes`)
      t.ok(heldBytes < total / 2, `${heldBytes} bytes are under way`)
      trip.isSlow = false
      trip.connection.resume()
      t.equal(await trip.failure, undefined)
      t.equal(trip.bytes, total)
      t.equal(trip.digest.digest('hex'), createHash('sha256').update(content).digest('hex'))
    })
  }

  t.test(`a connection whose last piece made its reader stop serves again, and hears its end: ${name}`, async t => {
    const bytes = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n'
    const server = await start(t, name, socket => socket.on('data', () => socket.write(bytes)))
    const pool = openPool(t, server.url, {}, way.open(server.url))
    const trip = new SlowReader(pool)

    t.equal(await trip.failure, undefined)
    t.equal(await ask(pool), 'ab')
    t.equal(server.sockets.length, 1)
    server.sockets[0]?.end()
    await eventually(() => server.openConnections() === 0)
  })

  t.test(`a paused round trip that is aborted frees the connection: ${name}`, async t => {
    const server = await start(t, name, socket => socket.once('data', () => pour(socket, false)))
    const trip = new SlowReader(openPool(t, server.url, {}, way.open(server.url)))
    await standsStill(() => trip.bytes)
    trip.connection.abort()

    await eventually(() => server.openConnections() === 0)
  })
}

t.test('over TLS a reader that was stopped between two records hears the end of the connection after them', async t => {
  const server = await start(t, 'tls', socket =>
    socket.once('data', () => {
      relay.pause()
      socket.setNoDelay(true)
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na')
      socket.write('b', () => relay.resume())
    }),
  )
  const relay = await startRelay(t, Number(new URL(server.url).port))
  const trip = new SlowReader(openPool(t, server.url, {}, ways.tls.open(relay.url)))

  t.equal(await trip.failure, undefined)
  server.sockets[0]?.end()
  await eventually(() => relay.openConnections() === 0)
})

t.test('over TLS a server whose certificate is not verified is unreachable', async t => {
  const server = await start(t, 'tls', () => undefined)

  t.match(await new RoundTrip(openPool(t, server.url, {}, secure(server.url))).failure, { kind: 'unreachable' })
})

/** Stands before a server; what that writes while the relay is paused passes in one piece. */
const startRelay = async (t: Test, port: number) => {
  const servers: Socket[] = []
  const { url, openConnections } = await startServer(t, socket => {
    const server = connect({ port, host: '127.0.0.1' })
    servers.push(server)
    socket.on('data', bytes => server.write(bytes)).on('close', () => server.destroy())
    server.on('data', bytes => socket.write(bytes)).on('end', () => socket.end())
  })
  return { url, openConnections, pause: () => servers[0]?.pause(), resume: () => servers[0]?.resume() }
}
