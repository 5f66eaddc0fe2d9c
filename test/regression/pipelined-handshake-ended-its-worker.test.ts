import t from 'tap'
import { startGateway } from '../gateway/support/running.ts'
import { openConnection } from '../support/raw-client.ts'
import { fieldOf, startCountingUpstream } from '../support/recording-upstream.ts'
import { startWebSocketUpstream } from '../support/websocket-upstream.ts'

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: gw.test\r\n`
const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIA==\r\n'

t.test(
  'a WebSocket handshake behind another request is passed on in its turn, and its refusal closes the connection',
  async t => {
    const upstream = await startCountingUpstream(t)
    const gateway = await startGateway(t, { up: upstream.url })
    const workers = gateway.workerPids()

    for (const first of ['/up/first', '/nowhere', '/metadata']) {
      const connection = openConnection(t, gateway.url)
      connection.send(`${get(first)}\r\n${get('/up/second')}${upgrade}\r\n`)
      const answers = [await connection.answer(), await connection.answer()]

      t.equal(answers[1]?.status, 200, first)
      t.equal(fieldOf(upstream.requests.at(-1), 'upgrade'), 'websocket')
      t.equal(await connection.ended(), 'closed')
    }

    t.same(gateway.workerPids(), workers)
    t.notMatch(gateway.output.join('\n'), /worker_crashed|worker_died/)
  },
)

t.test('a WebSocket may be opened behind another request, and gets what came behind the handshake', async t => {
  const upstream = await startWebSocketUpstream(t)
  const gateway = await startGateway(t, { up: upstream.url })
  const connection = openConnection(t, gateway.url)
  connection.send(`${get('/nowhere')}\r\n${get('/up/echo')}${upgrade}\r\n`)

  t.equal((await connection.answer()).status, 404)
  t.equal((await connection.answer()).status, 101)
})

t.test('what comes behind a handshake is not waited for as its body', async t => {
  const gateway = await startGateway(t, {})
  const connection = openConnection(t, gateway.url)

  connection.send(`${get('/metadata')}${upgrade}Content-Length: 9\r\n\r\nhi`)

  t.equal((await connection.answer()).status, 401)
  t.equal(await connection.ended(), 'closed')
})
