import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { watchLateRequests } from '../../src/http/late-requests.ts'
import { eventually } from '../support/eventually.ts'
import { openConnection } from '../support/raw-client.ts'

const limits = { requestTimeout: 1000, connectionsCheckingInterval: 3_600_000 }

/** A server whose own look at who is late comes after the test. */
const startServer = async (t: Test, onLate = (socket: Socket): unknown => socket.destroy(), headersTimeout = 50) => {
  const server = createServer({ ...limits, headersTimeout }, (req, res) => {
    if (req.method === 'GET') res.end()
  })
  const late: Socket[] = []
  watchLateRequests(server, socket => {
    late.push(socket)
    onLate(socket)
  })
  const accepted: Socket[] = []
  server.on('connection', socket => accepted.push(socket))
  server.listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, late, accepted }
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

const occupy = (forMs: number): void => {
  for (const fromMs = performance.now(); performance.now() - fromMs < forMs; );
}

const togetherMs = 500

/**
 * 400 clients that are found late at the same time, in the middle of a header. Of each onLate is told in a turn of its own, and
 * the promise resolves with the first; they end when the last has been told.
 */
const startLateClients = async (t: Test, onLate: (socket: Socket) => void = () => undefined) => {
  const first = Promise.withResolvers<void>()
  const onEach = (socket: Socket): void => {
    first.resolve()
    onLate(socket)
    occupy(1)
    // Not before: the parsers of those that close are what the next connections get.
    if (socket === accepted[399]) for (const each of late) each.destroy()
  }
  const { url, late, accepted } = await startServer(t, onEach, togetherMs)
  const clients = Array.from({ length: 400 }, () => openConnection(t, url).send('GET / HTTP/1.1\r\nHo'))
  await eventually(() => accepted.length === clients.length && accepted.every(({ bytesRead }) => bytesRead > 0))
  occupy(togetherMs)
  await first.promise
  return { url, late, accepted, clients }
}

t.test('who comes while hundreds are late is not taken for one that has gone', async t => {
  const { url, late, accepted, clients } = await startLateClients(t)
  for (const client of clients.slice(200, -1)) client.reset()
  await eventually(() => accepted.slice(200, -1).every(({ destroyed }) => destroyed))
  const fresh = Array.from({ length: 50 }, () => openConnection(t, url))
  const answers = await Promise.all(
    fresh.map(client => client.send('GET / HTTP/1.1\r\nHost: gw.test\r\n\r\n').answer()),
  )

  await clients.at(-1)?.ended()

  t.ok(answers.every(({ status }) => status === 200))
  const old = new Set(accepted.slice(0, clients.length))
  t.ok(late.every(socket => old.has(socket)))
  t.ok(fresh.every(({ state }) => state === 'open'))
})

t.test('one whose request came whole, and was answered, just after it was found late stays', async t => {
  const answered: Socket[] = []
  const { late, clients } = await startLateClients(t, socket => {
    if (socket.bytesWritten > 0) answered.push(socket)
  })
  for (const client of clients.slice(100, -1)) client.send('st: gw.test\r\n\r\n')
  await clients.at(-1)?.ended()

  t.ok(late.length < clients.length, `${late.length} were late`)
  t.equal(answered.length, 0)
})
