import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { endInTurn } from '../../src/http/end-in-turn.ts'
import { openConnection } from '../support/raw-client.ts'

t.test('connections that are to end together end a few at a time', async t => {
  const sockets = Array.from({ length: 30 }, () => new Socket())
  const ended = (): number => sockets.filter(({ destroyed }) => destroyed).length
  for (const socket of sockets) endInTurn(socket)
  t.equal(ended(), 0)
  const each: number[] = []
  while (ended() < sockets.length) {
    const before = ended()
    await nextTurn()
    each.push(ended() - before)
  }
  t.ok(Math.max(...each) <= 4, `${each}`)

  const later = new Socket()
  endInTurn(later)
  await once(later, 'close')
})

t.test('one that waits for its end waits once, and the first one ends first', async t => {
  const sockets = Array.from({ length: 20 }, () => new Socket())
  for (let times = 0; times < 100; times++) for (const socket of sockets) endInTurn(socket)
  const order: Socket[] = []
  for (const socket of sockets) socket.once('close', () => order.push(socket))
  const last = new Socket()
  endInTurn(last)
  await once(last, 'close')

  t.same(
    order.map(socket => sockets.indexOf(socket)),
    sockets.map((_, nth) => nth),
  )
})

t.test('one that has become a WebSocket meanwhile stays', async t => {
  const listener = createServer().listen(0, '127.0.0.1')
  t.teardown(() => listener.close())
  const connected = once(listener, 'connection')
  await once(listener, 'listening')
  const client = openConnection(t, `http://127.0.0.1:${(listener.address() as AddressInfo).port}`)
  const [socket] = (await connected) as [Socket]
  listener.on('upgrade', (_req, duplex) => {
    duplex.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    duplex.pipe(duplex)
  })
  // Enough before it for the handshake to come first.
  const before = Array.from({ length: 40_000 }, () => new Socket())
  for (const other of before) endInTurn(other)
  endInTurn(socket)
  client.send('GET / HTTP/1.1\r\nHost: gw.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  t.equal((await client.answer()).status, 101)
  const last = new Socket()
  endInTurn(last)
  t.notOk(socket.destroyed)
  await once(last, 'close')

  t.equal((await client.send('echo').receive(4)).toString(), 'echo')
})

t.test('one that got a request meanwhile stays, and is answered', async t => {
  const asked = Promise.withResolvers<ServerResponse>()
  const server = createServer((_req, res) => asked.resolve(res)).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const client = openConnection(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  client.send('GET / HTTP/1.1\r\nHost: gw.test\r\nConnection: close\r\n\r\n')
  const res = await asked.promise
  const last = new Socket()
  if (res.socket) endInTurn(res.socket)
  endInTurn(last)
  await once(last, 'close')
  res.end('here')

  t.equal((await client.answer()).body.toString(), 'here')
})
