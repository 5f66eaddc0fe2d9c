import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { eventually } from '../../support/eventually.ts'
import { ask, openConnection } from '../../support/raw-client.ts'
import { longRefusalBytes, startWebSocketUpstream } from '../../support/websocket-upstream.ts'
import { sampleOf, scrape, startGateway } from '../support/running.ts'

const handshake = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: gw.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`

/** A client that never closes its half. @param reads whether it reads the response */
const openStubborn = (t: Test, origin: string, reads: boolean) => {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  socket.on('error', () => undefined)
  if (reads) socket.resume()
  return socket
}

t.test('a refused handshake leaves nothing behind', async t => {
  const maxConnections = 10
  const upstream = await startWebSocketUpstream(t)
  const gateway = await startGateway(t, { up: upstream.url }, { requests: { maxConnections, sendTimeout: '3s' } })
  const { url } = gateway
  const inFlight = async () => sampleOf(await scrape(gateway), 'sidegate_http_requests_in_flight')

  await t.test('an answer of any length arrives whole, and ends the connection', async t => {
    const connection = openConnection(t, url).send(handshake('/up/refused-at-length'))
    const refused = await connection.answer()

    t.equal(refused.status, 403)
    t.equal(refused.body.length, longRefusalBytes)
    t.equal(await connection.ended(), 'closed')
  })

  await t.test('a client that takes nothing of it is not waited for longer than for any other answer', async t => {
    openStubborn(t, url, false).write(handshake('/up/refused-at-length'))
    await eventually(() => upstream.open().length === 1)

    await eventually(() => upstream.open().length === 0)
    await eventually(async () => (await inFlight()) === 0)
  })

  await t.test('clients that keep their half of the connection, or go on sending, take up no room', async t => {
    for (let count = 0; count < maxConnections; count++) {
      const socket = openStubborn(t, url, true)
      socket.write(handshake('/nowhere'))
      await once(socket, 'data')
      if (count % 2 === 0) socket.write(Buffer.alloc(1_000_000))
    }

    await eventually(async () => (await ask(url, 'GET /up/ HTTP/1.1\r\nHost: gw.test\r\n\r\n')).status === 200)
  })
})
