import t from 'tap'
import { openConnection } from '../../support/raw-client.ts'
import { startCountingUpstream } from '../../support/recording-upstream.ts'
import { startGateway } from '../support/running.ts'

const request = (line: string, ...fields: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'Host: gw.test', ...fields, '', ''].join('\r\n')

t.test('an idempotent request is tried again without a body, and never with one', async t => {
  const upstream = await startCountingUpstream(t, socket => socket.resetAndDestroy())
  const { url } = await startGateway(t, { up: upstream.url })
  const timesSent = async (bytes: string): Promise<number> => {
    const before = upstream.requests.length
    t.equal((await openConnection(t, url).send(bytes).answer()).status, 502)
    return upstream.requests.length - before
  }

  t.equal(await timesSent(request('PUT /up/none')), 2)
  t.equal(await timesSent(`${request('PUT /up/length', 'Content-Length: 5')}hello`), 1)
  t.equal(await timesSent(`${request('PUT /up/chunks', 'Transfer-Encoding: chunked')}5\r\nhello\r\n0\r\n\r\n`), 1)
})
