import t from 'tap'
import { startGateway } from '../gateway/support/running.ts'
import { ask, openConnection } from '../support/raw-client.ts'

t.test('a client that says CONNECT and resets its connection ends no worker', async t => {
  const gateway = await startGateway(t, { up: 'http://127.0.0.1:9' })
  const workers = gateway.workerPids()

  for (let i = 0; i < 20; i++) {
    const connection = openConnection(t, gateway.url).send('CONNECT gw.test:443 HTTP/1.1\r\nHost: gw.test\r\n\r\n')
    if (i % 2 === 0) await connection.answer()
    connection.reset()
  }

  const next = await ask(gateway.url, 'GET /nowhere HTTP/1.1\r\nHost: gw.test\r\n\r\n')
  t.equal(next.status, 404)
  t.same(gateway.workerPids(), workers)
  t.notMatch(gateway.output.join('\n'), /worker_crashed|worker_died/)
})
