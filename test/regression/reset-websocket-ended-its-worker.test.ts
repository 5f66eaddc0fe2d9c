import t from 'tap'
import { startGateway } from '../gateway/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { openConnection } from '../support/raw-client.ts'
import { startWebSocketUpstream } from '../support/websocket-upstream.ts'

const handshake = (name: string): string =>
  `GET /up/${name} HTTP/1.1\r\nHost: gw.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`

t.test('a WebSocket client that resets its connection ends no worker, at whatever moment', async t => {
  const upstream = await startWebSocketUpstream(t)
  const gateway = await startGateway(t, { up: upstream.url })
  const workers = gateway.workerPids()

  for (const name of ['echo', 'silent']) {
    const connection = openConnection(t, gateway.url).send(handshake(name))
    await eventually(() => upstream.open().length === 1)
    if (name === 'echo') await connection.answer()
    connection.reset()
    await eventually(() => upstream.open().length === 0)
  }

  await eventually(() => gateway.output.filter(line => line.includes('"path":"/up/')).length === 2)
  t.same(gateway.workerPids(), workers)
  t.notMatch(gateway.output.join('\n'), /worker_crashed|worker_died/)
})
