import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer, Server } from 'node:net'
import type { Duplex } from 'node:stream'
import t, { type Test } from 'tap'
import { createTrafficServer, type DropReason, defaultTrafficServerOptions } from '../../src/http/traffic-server.ts'
import { eventually } from '../support/eventually.ts'
import { headerOf } from '../support/raw-answer.ts'
import { openConnection } from '../support/raw-client.ts'

const idleMs = 200
const headersTimeoutMs = 2000

const listen = async (
  t: Test,
  request: (req: IncomingMessage, res: ServerResponse) => void,
  upgrade: (req: IncomingMessage, socket: Duplex) => void = () => undefined,
) => {
  const drops: DropReason[] = []
  const { server } = createTrafficServer(
    { ...defaultTrafficServerOptions, headersTimeoutMs, keepAliveTimeoutMs: idleMs, sendTimeoutMs: 500 },
    { request, upgrade, refused: () => undefined, dropped: reason => drops.push(reason) },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, drops }
}

const get = 'GET / HTTP/1.1\r\nHost: gw.test\r\n\r\n'

t.test('a connection is kept for as long as it is used, and for its idle time after that', async t => {
  const { url, drops } = await listen(t, (_req, res) => res.end('here'))
  const connection = openConnection(t, url)
  const startedAtMs = performance.now()
  while (performance.now() - startedAtMs < 3 * idleMs) {
    t.equal((await connection.send(get).answer()).status, 200)
    await new Promise(resolve => setTimeout(resolve, idleMs / 8))
  }
  const lastUsedAtMs = performance.now()

  t.equal(await connection.ended(), 'closed')
  t.ok(performance.now() - lastUsedAtMs >= idleMs + 800, 'and a little longer than it was told')
  t.same(drops, [], 'an idle connection is no loss')
})

t.test(
  'a connection that says nothing has the time of a header, and one with half a header is told that it took too long',
  async t => {
    const { url, drops } = await listen(t, (_req, res) => res.end())
    const silent = openConnection(t, url)
    const half = openConnection(t, url).send('GET / HTTP/1.1\r\nHost: gw')
    const late = openConnection(t, url)
    const startedAtMs = performance.now()

    t.equal(await silent.ended(), 'closed')
    t.ok(performance.now() - startedAtMs >= headersTimeoutMs - 50, 'longer than an idle connection is kept')
    t.equal((await half.answer()).status, 408)
    t.equal(silent.received.length, 0)
    t.equal(await late.ended(), 'closed')
    t.same(drops, ['timeout', 'timeout', 'timeout'])
  },
)

t.test('a connection whose answer is not ready, or that speaks another protocol, may be silent', async t => {
  let answer = (): void => undefined
  const onUpgrade = (_req: IncomingMessage, socket: Duplex): void => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    socket.pipe(socket)
  }
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    if (req.url === '/idle') res.end()
    else answer = () => void res.end('late')
  }
  const { url } = await listen(t, onRequest, onUpgrade)
  const late = openConnection(t, url).send(get)
  const upgraded = openConnection(t, url)
  upgraded.send('GET / HTTP/1.1\r\nHost: gw.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  t.equal((await upgraded.answer()).status, 101)

  const idle = openConnection(t, url)
  t.equal((await idle.send('GET /idle HTTP/1.1\r\nHost: gw.test\r\n\r\n').answer()).status, 200)
  t.equal(await idle.ended(), 'closed', 'one that came later was idle meanwhile')
  answer()
  t.equal((await late.answer()).body.toString(), 'late')
  t.equal((await upgraded.send('echo').receive(4)).toString(), 'echo')
})

t.test('an answer that is taken slowly is sent to its end', async t => {
  const pieceBytes = 2 * 1024 * 1024
  const { url, drops } = await listen(t, (_req, res) => res.end(Buffer.alloc(16 * pieceBytes)))
  const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(get))
  t.teardown(() => socket.destroy())
  let received = 0
  let untilPause = pieceBytes
  socket.on('data', piece => {
    received += piece.length
    untilPause -= piece.length
    if (untilPause > 0) return
    untilPause = pieceBytes
    socket.pause()
    setTimeout(() => socket.resume(), 60)
  })

  await eventually(() => received > 16 * pieceBytes)
  t.same(drops, [])
})

t.test('answers say for how long an idle connection is kept', async t => {
  const options = { ...defaultTrafficServerOptions, keepAliveTimeoutMs: 33_000 }
  const handlers = { upgrade: () => undefined, refused: () => undefined, dropped: () => undefined }
  const request = (_req: IncomingMessage, res: ServerResponse): void => void res.end()
  const { server } = createTrafficServer(options, { ...handlers, request })
  server.listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const connection = openConnection(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)

  t.equal(headerOf(await connection.send(get).answer(), 'keep-alive'), 'timeout=33')
})

t.test('connections that another listener accepted are watched on when the server has closed', async t => {
  const handlers = { upgrade: () => undefined, refused: () => undefined, dropped: () => undefined }
  const request = (_req: IncomingMessage, res: ServerResponse): void => void res.end()
  const options = { ...defaultTrafficServerOptions, keepAliveTimeoutMs: idleMs }
  const { server } = createTrafficServer(options, { ...handlers, request })
  server.listen(0, '127.0.0.1')
  const lent = createServer({ allowHalfOpen: true }, socket => void server.emit('connection', socket))
  lent.listen(0, '127.0.0.1')
  t.teardown(() => lent.close())
  await once(lent, 'listening')
  const connection = openConnection(t, `http://127.0.0.1:${(lent.address() as AddressInfo).port}`)
  t.equal((await connection.send(get).answer()).status, 200)
  Server.prototype.close.call(server)
  await once(server, 'close')

  t.equal(await connection.ended(), 'closed')
})
