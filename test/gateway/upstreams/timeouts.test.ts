import { connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { listenLocally } from '../../support/local-server.ts'
import { openConnection } from '../../support/raw-client.ts'
import { type RecordedRequest, type Script, startCountingUpstream } from '../../support/recording-upstream.ts'
import { startWebSocketUpstream } from '../../support/websocket-upstream.ts'
import { sampleOf, scrape, startGateway } from '../support/running.ts'

/** The behaviour of the upstream, by the last segment of the path. */
const scripts: Readonly<Record<string, Script>> = {
  silent: () => undefined,
  stops: socket => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello'),
  trickles: socket => trickle(socket, 'text/plain'),
  streams: socket => trickle(socket, 'text/event-stream; charset=utf-8'),
  floods: socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n')
    socket.write(Buffer.alloc(100_000_000))
  },
  ok: socket => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
}

/** One piece every 20 ms until the connection closes. */
const trickle = (socket: Socket, type: string): void => {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`)
  const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20)
  socket.once('close', () => clearInterval(timer))
}

const nameOf = ({ target }: RecordedRequest): string => target.slice(target.lastIndexOf('/') + 1)

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: gw.test\r\n\r\n`

const post = (path: string, ...fields: readonly string[]): string =>
  ['POST ', path, ' HTTP/1.1\r\nHost: gw.test\r\n', ...fields.map(field => `${field}\r\n`), '\r\n'].join('')

/** A server that takes connections and never reads a byte. */
const startDeafServer = async (t: { teardown(handler: () => unknown): unknown }): Promise<string> => {
  const sockets: Socket[] = []
  const server = createServer({ pauseOnConnect: true }, socket => sockets.push(socket.on('error', () => undefined)))
  const port = await listenLocally(t, server, sockets)
  return `127.0.0.1:${port}`
}

t.test('every wait for an upstream has an end of its own', async t => {
  const upstream = await startCountingUpstream(t, (socket, request, count) =>
    scripts[nameOf(request)]?.(socket, request, count),
  )
  const deaf = await startDeafServer(t)
  const sockets = await startWebSocketUpstream(t)
  const patient = { connectTimeout: '1m', headersTimeout: '1m', bodyTimeout: '1m', totalTimeout: '1m' }
  const upstreams = {
    connecting: { targets: [`https://${deaf}`], ...patient, connectTimeout: '200ms' },
    heading: { targets: [upstream.url], ...patient, headersTimeout: '200ms' },
    idling: { targets: [upstream.url], ...patient, bodyTimeout: '200ms' },
    deaf: { targets: [`http://${deaf}`], ...patient, bodyTimeout: '200ms' },
    whole: { targets: [upstream.url], ...patient, totalTimeout: '1s' },
    sockets: { targets: [sockets.url], ...patient, totalTimeout: '200ms' },
  }
  const names = Object.keys(upstreams)
  const gateway = await startGateway(t, Object.fromEntries(names.map(name => [name, ''])), { upstreams })
  const ask = () => openConnection(t, gateway.url)
  const failures = async (name: string, reason: string): Promise<number> =>
    sampleOf(await scrape(gateway), 'sidegate_upstream_errors_total', `"${name}"`, `"${reason}"`)

  await t.test('no connection, its TLS included, is 502', async t => {
    const refused = await ask().send(get('/connecting/ok')).answer()

    t.match(JSON.parse(refused.body.toString()), { status: 502, code: 'UPSTREAM_UNREACHABLE' })
    await eventually(async () => (await failures('connecting', 'connect')) === 1)
  })

  await t.test('no response header is 504', async t => {
    const refused = await ask().send(get('/heading/silent')).answer()

    t.match(JSON.parse(refused.body.toString()), { status: 504, code: 'UPSTREAM_TIMEOUT' })
    await eventually(async () => (await failures('heading', 'timeout')) === 1)
  })

  await t.test('an answer that stops is broken off', async t => {
    const broken = await ask().send(get('/idling/stops')).answer()

    t.equal(broken.body.toString(), 'hello')
    t.notOk(broken.isComplete)
    await eventually(async () => (await failures('idling', 'timeout')) === 1)
  })

  await t.test('a request whose body stops is 408: the upstream has no part in it', async t => {
    const connection = ask().send(`${post('/idling/silent', 'Content-Length: 10')}hello`)
    const refused = await connection.answer()

    t.match(JSON.parse(refused.body.toString()), { status: 408, code: 'REQUEST_TIMEOUT' })
    t.not(await connection.ended(), 'open')
    await eventually(async () => (await failures('idling', 'client_slow')) === 1)
  })

  await t.test('a client that stops reading a response loses it', async t => {
    const { hostname, port } = new URL(gateway.url)
    const socket = connect({ host: hostname, port: Number(port) })
    t.teardown(() => socket.destroy())
    socket.pause()
    socket.write(get('/idling/floods'))

    await eventually(async () => (await failures('idling', 'client_slow')) === 2)
    await eventually(() => upstream.openConnections() === 0)
  })

  await t.test('an upstream that stops reading a body is 504', async t => {
    const body = Buffer.alloc(50_000_000)
    const refused = await ask()
      .send(post('/deaf/x', `Content-Length: ${body.length}`))
      .send(body)
      .answer()

    t.match(JSON.parse(refused.body.toString()), { status: 504, code: 'UPSTREAM_TIMEOUT' })
    await eventually(async () => (await failures('deaf', 'timeout')) === 1)
  })

  await t.test(
    'a request that takes too long as a whole, however alive it is, is 408: no fault of a member',
    async t => {
      const connection = ask().send(post('/whole/silent', 'Content-Length: 10000'))
      const timer = setInterval(() => connection.send('x'), 20)
      t.teardown(() => clearInterval(timer))
      const refused = await connection.answer()

      t.match(JSON.parse(refused.body.toString()), { status: 408, code: 'REQUEST_TIMEOUT' })
      await eventually(async () => (await failures('whole', 'client_slow')) === 1)
    },
  )

  await t.test('an answer that takes too long as a whole is broken off, however alive it is', async t => {
    const broken = await ask().send(get('/whole/trickles')).answer()

    t.match(broken.body.toString(), /^x/)
    t.notOk(broken.isComplete)
    await eventually(async () => (await failures('whole', 'timeout')) === 1)
  })

  await t.test('an event stream may take longer', async t => {
    const stream = ask().send(get('/whole/streams'))
    const pieces = () => stream.received.toString().match(/\r\nx\r\n/g)?.length ?? 0

    await eventually(() => pieces() > 60, 10_000)
    t.equal(stream.state, 'open')
    stream.close()
  })

  await t.test('so may a WebSocket', async t => {
    const handshake = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
    const socket = ask().send(post('/sockets/echo', ...handshake, key).replace('POST', 'GET'))

    t.equal((await socket.answer()).status, 101)
    const later = await ask().send(get('/whole/trickles')).answer()
    t.notOk(later.isComplete, 'longer than both of them have')
    t.equal(socket.state, 'open')
  })
})
