import t from 'tap'
import { openConnection } from '../../support/raw-client.ts'
import { startStrictUpstream } from '../../support/recording-upstream.ts'
import { startGateway } from '../support/running.ts'

const get = (...fields: readonly string[]): string =>
  ['GET /up/x HTTP/1.1', 'Host: gw.test', ...fields, ''].join('\r\n')

t.test('the listener uses the limits of the configuration', async t => {
  const upstream = await startStrictUpstream(t)
  const requests = { headerTimeout: '1s', maxHeader: '1KiB', maxFields: 10 }
  const { url } = await startGateway(t, { up: upstream.url }, { requests })
  const ask = (bytes: string) => openConnection(t, url).send(bytes).answer()
  const many = (count: number) => Array.from({ length: count }, (_, place) => `X-${place}: a`)

  t.equal((await ask(`${get(...many(9))}\r\n`)).status, 200)
  t.equal((await ask(`${get(...many(10))}\r\n`)).status, 431, 'one field more')
  t.equal((await ask(`${get(`X-Long: ${'a'.repeat(900)}`)}\r\n`)).status, 200)
  t.equal((await ask(`${get(`X-Long: ${'a'.repeat(1100)}`)}\r\n`)).status, 431, 'some bytes more')
  t.equal((await ask(get())).status, 408, 'the end of the header does not come')
  t.equal(upstream.requests.length, 2)
})
