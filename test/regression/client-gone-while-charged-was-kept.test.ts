import t from 'tap'
import { clientSecret, sampleOf, scrape, startGateway } from '../gateway/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { openConnection } from '../support/raw-client.ts'
import { startCountingUpstream } from '../support/recording-upstream.ts'

const kinds = {
  request: '',
  handshake:
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIA==\r\n',
}

for (const [kind, fields] of Object.entries(kinds)) {
  t.test(`a client that leaves while its ${kind} waits for the plan's decision is let go`, async t => {
    const upstream = await startCountingUpstream(t)
    const gateway = await startGateway(t, { up: upstream.url }, { store: 'sqlite:sidegate.db' })
    const other = openConnection(t, gateway.url)
    const connection = openConnection(t, gateway.url).send(get('/up/first'))
    await connection.answer()

    // The primary keeps the count; while it is stopped, workers wait for it a little and then decide for themselves.
    gateway.kill('SIGSTOP')
    connection.send(get(`/up-query/left?${query}`, fields))
    // This answer comes after the first request, so the worker has read the first request by then.
    await other.send(get('/nowhere')).answer()
    connection.reset()
    await eventually(() => upstream.requests.length > 1 || gateway.output.some(line => line.includes('/up-query/left')))
    gateway.kill('SIGCONT')

    await eventually(
      async () => sampleOf(await scrape(gateway), 'sidegate_http_requests_in_flight', '"up-query"') === 0,
    )
    t.match(
      gateway.output.find(line => line.includes('/up-query/left')),
      /"status":499/,
    )
    t.equal(upstream.requests.length, 1, 'the upstream got no request of the closed connection')
  })
}

const get = (target: string, fields = ''): string => `GET ${target} HTTP/1.1\r\nHost: gw.test\r\n${fields}\r\n`

const query = `client_id=app&client_secret=${clientSecret}`
