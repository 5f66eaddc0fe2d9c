import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { endInTurn, keepOpen } from '../../src/http/end-in-turn.ts'
import { eventually } from '../support/eventually.ts'
import { openConnection } from '../support/raw-client.ts'

t.test('connections that are to end together end a few at a time', async t => {
  const sockets = Array.from({ length: 30 }, () => new Socket())
  const ended = (): number => sockets.filter(({ destroyed }) => destroyed).length
  for (const socket of sockets) endInTurn(socket, 'idle')
  t.equal(ended(), 0)
  const each: number[] = []
  while (ended() < sockets.length) {
    const before = ended()
    await nextTurn()
    each.push(ended() - before)
  }
  t.ok(Math.max(...each) <= 4, `${each}`)

  const later = new Socket()
  endInTurn(later, 'idle')
  await once(later, 'close')
})

t.test('one that waits for its end waits once, and the first one ends first', async t => {
  const sockets = Array.from({ length: 20 }, () => new Socket())
  for (let times = 0; times < 100; times++) for (const socket of sockets) endInTurn(socket, 'idle')
  const order: Socket[] = []
  for (const socket of sockets) socket.once('close', () => order.push(socket))
  const last = new Socket()
  endInTurn(last, 'idle')
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
  for (const other of before) endInTurn(other, 'idle')
  endInTurn(socket, 'idle')
  client.send('GET / HTTP/1.1\r\nHost: gw.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  t.equal((await client.answer()).status, 101)
  const last = new Socket()
  endInTurn(last, 'idle')
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
  if (res.socket) endInTurn(res.socket, 'idle')
  endInTurn(last, 'idle')
  await once(last, 'close')
  res.end('here')

  t.equal((await client.answer()).body.toString(), 'here')
})

t.test('a late one ends whatever it says then, but where that is a request', async t => {
  const server = createServer((_req, res) => res.end('here')).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const connect = async () => {
    const connected = once(server, 'connection')
    const client = openConnection(t, url)
    const [socket] = (await connected) as [Socket]
    return { client, socket }
  }
  const [blank, half, whole, other] = [await connect(), await connect(), await connect(), await connect()]
  // Enough before them for what they say to come first.
  for (let nth = 0; nth < 10_000; nth++) endInTurn(new Socket(), 'idle')
  for (const { socket } of [blank, half, whole, other]) endInTurn(socket, 'late')
  blank.client.send('\r\n')
  half.client.send('GET / HTTP/1.1\r\nHo')
  whole.client.send('GET / HTTP/1.1\r\nHost: gw.test\r\n\r\n')
  keepOpen(other.socket)
  await eventually(() => blank.socket.bytesRead > 0 && half.socket.bytesRead > 0)
  t.notOk(blank.socket.destroyed)

  t.equal((await whole.client.answer()).status, 200)
  t.equal(await blank.client.ended(), 'closed')
  t.equal(await half.client.ended(), 'closed')
  const last = new Socket()
  endInTurn(last, 'idle')
  await once(last, 'close')
  t.equal(whole.client.state, 'open')
  t.equal(other.client.state, 'open')
})
