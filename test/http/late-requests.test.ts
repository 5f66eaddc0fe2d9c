import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { watchLateRequests } from '../../src/http/late-requests.ts'
import { openConnection } from '../support/raw-client.ts'

const limits = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 3_600_000 }

/** A server whose own look at who is late comes after the test. */
const startServer = async (t: Test) => {
  const server = createServer(limits, (req, res) => {
    if (req.method === 'GET') res.end()
  })
  const late: Socket[] = []
  watchLateRequests(server, socket => {
    late.push(socket)
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, late }
}

t.test(
  'a connection that says nothing, one that stops in a header and one that stops in a body are late, once',
  async t => {
    const { url, late } = await startServer(t)
    const clients = ['', 'GET / HTTP/1.1\r\nHo', 'POST / HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 9\r\n\r\nx'].map(
      said => openConnection(t, url).send(said),
    )
    await Promise.all(clients.map(client => client.ended()))

    t.equal(late.length, 3)
    t.equal(new Set(late).size, 3)
  },
)

t.test('of hundreds that came together each is told once', async t => {
  const { url, late } = await startServer(t)
  const clients = Array.from({ length: 300 }, () => openConnection(t, url).send('GET / HTTP/1.1\r\nHo'))
  await Promise.all(clients.map(client => client.ended()))

  t.equal(late.length, 300)
  t.equal(new Set(late).size, 300)
})

t.test('a connection that is kept after its answer is not late', async t => {
  const { url, late } = await startServer(t)
  const kept = openConnection(t, url)
  t.equal((await kept.send('GET / HTTP/1.1\r\nHost: gw.test\r\n\r\n').answer()).status, 200)
  await openConnection(t, url).ended()

  t.equal(late.length, 1, 'one that said nothing is')
  t.equal(kept.state, 'open')
})
