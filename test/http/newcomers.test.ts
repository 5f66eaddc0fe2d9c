import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, createServer, Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { createTrafficServer, type DropReason, defaultTrafficServerOptions } from '../../src/http/traffic-server.ts'
import { eventually } from '../support/eventually.ts'
import { openConnection } from '../support/raw-client.ts'

/** A server that says what it was asked, and how many an x was in the body. */
const listen = async (t: Test, changes: Partial<typeof defaultTrafficServerOptions> = {}) => {
  const drops: DropReason[] = []
  const sockets: Socket[] = []
  const { server, newcomers } = createTrafficServer(
    { ...defaultTrafficServerOptions, ...changes },
    {
      request: (req: IncomingMessage, res) =>
        void text(req).then(body => res.end(`${req.url} ${body.split('x').length - 1}`)),
      upgrade: (_req, socket, head) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
        socket.write(head)
        socket.pipe(socket)
      },
      refused: () => undefined,
      dropped: reason => drops.push(reason),
    },
  )
  server.on('connection', socket => sockets.push(socket))
  server.listen(0, '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return { server, newcomers, drops, sockets, url: urlOf(server) }
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: gw.test\r\n\r\n`

/** Connections of the gateway's that say nothing. */
const connectSilently = async (t: Test, { newcomers, url }: Awaited<ReturnType<typeof listen>>, count: number) => {
  const before = newcomers.accepted()
  const clients = Array.from({ length: count }, () => openConnection(t, url))
  await eventually(() => newcomers.accepted() === before + count)
  return clients
}

t.test('there is a socket of a connection when it says something, and it has said all of it', async t => {
  const gateway = await listen(t)
  const { newcomers, sockets } = gateway
  const [one, other] = await connectSilently(t, gateway, 2)
  t.equal(sockets.length, 0)

  t.equal((await one?.send(get('/a')).answer())?.body.toString(), '/a 0')
  t.equal((await one?.send(get('/b')).answer())?.body.toString(), '/b 0')
  t.equal(sockets.length, 1)
  t.equal(newcomers.count(), 1)
  const first = get('/c')
  other?.send(first.slice(0, 1))
  await eventually(() => sockets.length === 2)
  t.equal((await other?.send(first.slice(1)).answer())?.body.toString(), '/c 0')
  t.equal(newcomers.count(), 0)
  t.equal(newcomers.accepted(), 2)
})

t.test('whatever comes first is taken as it would be later', async t => {
  const { url } = await listen(t)
  const piped = openConnection(t, url).send(get('/a') + get('/b') + get('/c').slice(0, 9))
  t.equal((await piped.answer()).body.toString(), '/a 0')
  t.equal((await piped.answer()).body.toString(), '/b 0')
  t.equal((await piped.send(get('/c').slice(9)).answer()).body.toString(), '/c 0')

  const post = (bytes: number): string =>
    `POST /up HTTP/1.1\r\nHost: gw.test\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`
  // Node's buffer is of 65,536 bytes, and handed over whole where most of it is full.
  for (const bytes of [1, 30_000, 52_000, 60_000, 65_300, 65_400, 100_000, 5_000_000]) {
    const connection = openConnection(t, url).send(post(bytes))
    t.equal((await connection.answer()).body.toString(), `/up ${bytes}`)
    t.equal((await connection.send(get('/then')).answer()).body.toString(), '/then 0')
  }
  const socket = openConnection(t, url)
  const handshake = 'GET / HTTP/1.1\r\nHost: gw.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  t.equal((await socket.send(`${handshake}head`).answer()).status, 101)
  t.equal((await socket.receive(4)).toString(), 'head')
  t.equal((await socket.send(' and more').receive(13)).toString(), 'head and more')

  t.equal((await openConnection(t, url).send('no request at all\r\n\r\n').answer()).status, 400)
  const tunnel = openConnection(t, url).send('CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n')
  t.equal((await tunnel.answer()).status, 501)
  const half = openConnection(t, url).send(get('/half'))
  half.finish()
  t.equal((await half.answer()).body.toString(), '/half 0')
})

t.test('one that goes without a word is nobody, and the server can end', async t => {
  const gateway = await listen(t)
  const { newcomers, drops, sockets, server } = gateway
  const [ended, reset, closed] = await connectSilently(t, gateway, 3)
  Server.prototype.close.call(server)
  ended?.finish()
  t.equal(await ended?.ended(), 'closed')
  reset?.reset()
  closed?.close()
  await once(server, 'close')

  t.equal(newcomers.count(), 0)
  t.same(sockets, [])
  t.same(drops, [])
})

t.test('each has the time of a header to say something, and who did not is counted once', async t => {
  const headersTimeoutMs = 300
  const gateway = await listen(t, { headersTimeoutMs })
  const connectedAtMs = performance.now()
  const clients = await connectSilently(t, gateway, 200)
  const [first] = clients
  await first?.ended()
  t.ok(performance.now() - connectedAtMs >= headersTimeoutMs)
  await Promise.all(clients.map(client => client.ended()))

  t.ok(clients.every(({ state, received }) => state === 'closed' && received.length === 0))
  t.same(
    gateway.drops,
    Array.from(clients, () => 'timeout'),
  )
  t.equal(gateway.newcomers.count(), 0)
  const [later] = await connectSilently(t, gateway, 1)
  t.equal((await later?.send(get('/later')).answer())?.status, 200)
})

t.test('without a time for headers one may be silent', async t => {
  const gateway = await listen(t, { headersTimeoutMs: 0 })
  const [silent] = await connectSilently(t, gateway, 1)
  const other = await listen(t, { headersTimeoutMs: 50 })
  const [late] = await connectSilently(t, other, 1)
  await late?.ended()

  t.equal((await silent?.send(get('/a')).answer())?.status, 200)
})

t.test('one that was late, and says something before its turn has come, stays', async t => {
  const gateway = await listen(t, { headersTimeoutMs: 1000 })
  const clients = await connectSilently(t, gateway, 600)
  await eventually(() => gateway.drops.length > 0)
  // Those whose turn came last: all became late together.
  const outcomes = await Promise.allSettled(clients.map(client => client.send(get('/just-in-time')).answer()))

  const answered = clients.filter((_, nth) => outcomes[nth]?.status === 'fulfilled')
  t.ok(answered.length > 0, `${answered.length}`)
  t.equal(answered.length + gateway.drops.length, clients.length)
  t.ok(answered.every(({ state }) => state === 'open'))
  t.equal((await answered[0]?.send(get('/next')).answer())?.status, 200)
})

t.test('those that say nothing are counted as connections, and make room for one that does', async t => {
  const gateway = await listen(t, { maxConnections: 10 })
  const silent = await connectSilently(t, gateway, 9)
  const busy = openConnection(t, gateway.url)
  t.equal((await busy.send(get('/busy').slice(0, -2)).send('\r\n').answer()).status, 200)
  busy.send('GET /half HTTP/1.1\r\n')
  await eventually(() => gateway.sockets[0]?.bytesRead === get('/busy').length + 20)

  t.not(await openConnection(t, gateway.url).send(get('/full')).ended(), 'open')
  await Promise.all(silent.map(client => client.ended()))
  t.same(gateway.drops, ['full', ...silent.map(() => 'room')])
  t.equal((await openConnection(t, gateway.url).send(get('/room')).answer()).status, 200)
  t.equal((await busy.send('Host: gw.test\r\n\r\n').answer()).body.toString(), '/half 0')
  t.equal(gateway.drops.length, 10)
})

t.test('connections of another listener wait as well, and end with it closed', async t => {
  const gateway = await listen(t, { headersTimeoutMs: 400 })
  const lent = createServer({ allowHalfOpen: true }, socket => void gateway.server.emit('connection', socket))
  gateway.newcomers.receive(lent)
  lent.listen(0, '127.0.0.1')
  await once(lent, 'listening')
  const [one, other] = await connectSilently(t, { ...gateway, url: urlOf(lent) }, 2)
  lent.close()

  t.equal((await one?.send(get('/lent')).answer())?.body.toString(), '/lent 0')
  t.equal(await other?.ended(), 'closed')
  t.same(gateway.drops, ['timeout'])
  one?.close()
  await once(lent, 'close')
})

t.test('a server that listens again receives again', async t => {
  const gateway = await listen(t)
  Server.prototype.close.call(gateway.server)
  await once(gateway.server, 'close')
  gateway.server.listen(0, '127.0.0.1')
  await once(gateway.server, 'listening')
  const [one] = await connectSilently(t, { ...gateway, url: urlOf(gateway.server) }, 1)

  t.equal(gateway.sockets.length, 0)
  t.equal((await one?.send(get('/again')).answer())?.body.toString(), '/again 0')
})
