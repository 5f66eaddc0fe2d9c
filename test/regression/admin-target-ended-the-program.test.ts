import t from 'tap'
import { startGateway } from '../gateway/support/running.ts'
import { ask } from '../support/raw-client.ts'

t.test('no request target, however odd, ends the program through the admin port', async t => {
  const gateway = await startGateway(t, {})

  for (const [target, expected] of [
    ['//', 404],
    ['//[', 404],
    ['/\\', 404],
    ['/%', 404],
    // Not in origin form: refused on every listener alike.
    ['http://[', 400],
    ['http://a:99999/', 400],
    ['*', 400],
  ] as const) {
    const { status } = await ask(gateway.admin, `GET ${target} HTTP/1.1\r\nHost: admin.test\r\n\r\n`)

    t.equal(status, expected, target)
  }

  const { status, body } = await ask(gateway.admin, 'GET /readyz?verbose HTTP/1.1\r\nHost: admin.test\r\n\r\n')
  t.equal(status, 200)
  t.match(body.toString(), /^workers: 1 of 1$/m)
})
