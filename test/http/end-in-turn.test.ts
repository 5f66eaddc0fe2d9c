import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { endInTurn } from '../../src/http/end-in-turn.ts'
import { openConnection } from '../support/raw-client.ts'

t.test('connections that are to end together end a few in each turn of the event loop', async t => {
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
