import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { eventually } from '../support/eventually.ts'
import { startSidegate } from '../support/sidegate.ts'
import { parseExposition, scrape, sumOf } from '../telemetry/support/exposition.ts'
import { ceilingOf, seriesMakersOf, straysIn } from '../telemetry/support/series.ts'
import { sendWildRequests, startWildUpstream, wildConfig } from '../telemetry/support/wild-requests.ts'

const upstream = await startWildUpstream()
t.teardown(() => upstream.close())
const sidegate = await startSidegate(t, wildConfig(upstream.url))
const loaded = await loadConfig(join(sidegate.dir, 'sidegate.yaml'), {})
if (!loaded.ok) throw new Error('the configuration that is served cannot be loaded')
const makers = seriesMakersOf(loaded.config)

t.test('wild requests make no series that the configuration has not', async t => {
  const count = 30_000
  await sendWildRequests(sidegate.url, count)
  await eventually(async () => sumOf(await scrape(sidegate.admin), 'sidegate_http_requests_total') >= count)

  const exposition = await scrape(sidegate.admin)
  const seen = (labels: Readonly<Record<string, string>>) => sumOf(exposition, 'sidegate_http_requests_total', labels)
  for (const wild of [{ code: '2xx' }, { code: '5xx' }, { code: '502' }, { method: 'other' }, { grouping: 'Closed' }]) {
    t.ok(seen(wild) > 10, `${Object.values(wild)} took part`)
  }
  t.ok(seen({ operation: 'POST /token', code: '401' }) > 1000, 'so did strangers')
  t.same(straysIn(exposition, makers), [])
  t.ok(exposition.samples.length <= ceilingOf(makers), `${exposition.samples.length} of ${ceilingOf(makers)}`)
})

t.test('a path, a client or a status of its own would be found', async t => {
  const stray = (labels: string) =>
    straysIn(parseExposition(`sidegate_http_requests_total{${labels}} 1`), makers).length
  const operation = 'grouping="Open",version="1.0.0",operation="GET /open/**"'

  t.equal(stray(`${operation},method="GET",code="200"`), 0)
  t.equal(stray(`${operation},method="GET",code="299"`), 1)
  t.equal(stray(`${operation},method="BREW",code="405"`), 1)
  t.equal(stray('grouping="Open",version="1.0.0",operation="GET /open/a",method="GET",code="200"'), 1)
  t.equal(straysIn(parseExposition('sidegate_clients_total{client="app"} 1'), makers).length, 1)
})
