import t from 'tap'
import { sampleOf, scrape, startGateway } from '../gateway/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { openConnection } from '../support/raw-client.ts'
import { startCountingUpstream } from '../support/recording-upstream.ts'

const chunked = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: gw.test\r\nTransfer-Encoding: chunked\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\nZZ\r\n`

t.test(
  'a request that is refused in its body is counted once, on its operation, with the status that its client gets',
  async t => {
    const upstream = await startCountingUpstream(t)
    const gateway = await startGateway(t, { up: upstream.url })

    for (const path of ['/up/x', '/token']) {
      t.equal((await openConnection(t, gateway.url).send(chunked(path)).answer()).status, 400, path)
    }
    const count = (metrics: string, ...labels: readonly string[]) =>
      sampleOf(metrics, 'sidegate_http_requests_total', ...labels)
    await eventually(async () => count(await scrape(gateway), 'code="400"') === 2)
    const metrics = await scrape(gateway)

    t.equal(count(metrics, 'operation="POST /token"', 'code="400"'), 1)
    t.equal(count(metrics, 'grouping="unmatched"'), 0)
    t.equal(count(metrics, 'code="499"'), 0)
    t.equal(sampleOf(metrics, 'sidegate_connections_dropped_total', '"invalid"'), 2)
  },
)
