import t from 'tap'
import { startGateway } from '../gateway/support/running.ts'
import { ask } from '../support/raw-client.ts'

t.test('no request target, however odd, ends the program through the admin port', async t => {
  const gateway = await startGateway(t, {})

  for (const target of ['//', '//[', 'http://[', 'http://a:99999/', '/\\', '*', '/%']) {
    const { status } = await ask(gateway.admin, `GET ${target} HTTP/1.1\r\nHost: admin.test\r\n\r\n`)

    t.equal(status, 404, target)
  }

  const { status, body } = await ask(gateway.admin, 'GET /readyz?verbose HTTP/1.1\r\nHost: admin.test\r\n\r\n')
  t.equal(status, 200)
  t.match(body.toString(), /^workers: 1 of 1$/m)
})
