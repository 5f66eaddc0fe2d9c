import t from 'tap'
import { metrics } from '../../src/telemetry/metrics.ts'
import { startSlowUpstream } from '../cluster/support/slow-upstream.ts'
import { assertionClaims, assertionFields, createClientKey, keySetOf } from '../oauth/support/client-keys.ts'
import { eventually } from '../support/eventually.ts'
import { fetchFreshMetrics } from '../support/fresh-metrics.ts'
import { type RunningSidegate, startSidegate } from '../support/sidegate.ts'
import { parseExposition, scrape, seriesOf, sumOf } from '../telemetry/support/exposition.ts'

const basic = `Basic ${Buffer.from('app:app-secret').toString('base64')}`
const upstream = await startSlowUpstream(t)

const issuer = 'https://auth.example'
const key = await createClientKey('ES256')

const start = (): Promise<RunningSidegate> =>
  startSidegate(t, {
    issuer,
    workers: 2,
    plans: { generous: { rate: '100000/1second' } },
    groupings: [
      {
        name: 'OAuth',
        version: '1.2.3',
        operations: [
          { method: 'POST', path: '/token', serves: 'token' },
          { method: 'POST', path: '/introspect', serves: 'introspect' },
        ],
      },
      { name: 'Slow', upstream: 'slow', operations: [{ method: 'GET', path: '/slow/**', credentials: 'none' }] },
      { name: 'Dead', upstream: 'dead', operations: [{ method: 'GET', path: '/dead', credentials: 'none' }] },
    ],
    upstreams: { slow: { targets: [upstream.url] }, dead: { targets: ['http://127.0.0.1:1'] } },
    clients: [
      { client_id: 'app', client_secret: 'app-secret', grant_types: ['client_credentials'] },
      {
        client_id: 'signer',
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: keySetOf(key),
        grant_types: ['client_credentials'],
      },
    ],
    // Otherwise the many wrong proofs below would sooner or later be answered 429.
    login: { failures: '100000/1minute' },
  })

const sidegate = await start()

const post = (path: string, form: Readonly<Record<string, string>>, authorization = basic): Promise<Response> =>
  fetch(sidegate.url + path, { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) })

/** The current value of the metric for these labels. */
const count = async (name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> =>
  sumOf(await scrape(sidegate.admin), name, labels)

t.test('each answer is counted once, under its grouping, version, operation, method and code', async t => {
  const issued = await post('/token', { grant_type: 'client_credentials' })
  const { access_token } = (await issued.json()) as { readonly access_token: string }
  await post('/introspect', { token: access_token })
  await post('/introspect', { token: 'none' })
  await post('/token', { grant_type: 'client_credentials' }, 'Basic YTpi')
  await fetch(`${sidegate.url}/nowhere`)
  await fetch(`${sidegate.url}/dead`)

  const of = { grouping: 'OAuth', version: '1.2.3', operation: 'POST /token', method: 'POST' }
  t.equal(await count('sidegate_http_requests_total', { ...of, code: '200' }), 1)
  t.equal(await count('sidegate_http_requests_total', { ...of, code: '401' }), 1)
  t.equal(await count('sidegate_http_requests_total', { grouping: 'unmatched', code: '404' }), 1)
  t.equal(await count('sidegate_http_requests_total', { grouping: 'Dead', code: '502' }), 1)
  t.equal(await count('sidegate_http_request_duration_seconds_count', { operation: 'POST /token' }), 2)
  t.equal(await count('sidegate_tokens_issued_total', { grant_type: 'client_credentials', format: 'jwt' }), 1)
  t.equal(await count('sidegate_introspections_total'), 2)
  t.equal(await count('sidegate_oauth_errors_total', { operation: 'POST /token', error: 'invalid_client' }), 1)
  t.equal(await count('sidegate_credential_checks_total', { grouping: 'OAuth', result: 'ok' }), 3)
  t.equal(await count('sidegate_credential_checks_total', { grouping: 'OAuth', result: 'refused' }), 1)
  t.equal(await count('sidegate_plan_decisions_total', { plan: 'generous', grouping: 'OAuth', decision: 'allowed' }), 3)
  t.equal(await count('sidegate_upstream_errors_total', { upstream: 'dead', reason: 'connect' }), 1)
  t.ok((await count('sidegate_store_duration_seconds_count', { store: 'sqlite' })) > 0)
})

t.test('an assertion that was used before counts as a refused credential, a good one as none', async t => {
  const checks = (result: string) =>
    count('sidegate_credential_checks_total', { grouping: 'OAuth', credential: 'client', result })
  const [ok, refused] = [await checks('ok'), await checks('refused')]
  const assertion = await key.sign(assertionClaims('signer', issuer, Date.now()))
  const send = (more: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${sidegate.url}/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', ...assertionFields(assertion), ...more }),
    })

  t.equal((await send({ scope: 'unknown' })).status, 400)
  t.same([await checks('ok'), await checks('refused')], [ok + 1, refused], 'only the scope was wrong')
  t.equal((await send({})).status, 401)
  t.same([await checks('ok'), await checks('refused')], [ok + 1, refused + 1])
})

t.test('gauges say what is now', async t => {
  t.equal(await count('sidegate_workers'), 2)
  t.equal(await count('sidegate_store_up', { store: 'sqlite' }), 1)
  t.equal(await count('sidegate_build_info', { node_version: process.versions.node }), 1)
  t.equal(await count('sidegate_config_last_reload_successful'), 1)
  t.ok((await count('sidegate_config_last_reload_success_timestamp_seconds')) <= Date.now() / 1000)

  const asked = [1, 2, 3].map(() => fetch(`${sidegate.url}/slow/a`))
  await eventually(() => upstream.waiting() === 3)
  // A worker that is busy for longer than a scrape waits is there with what it said before.
  await eventually(async () => (await count('sidegate_http_requests_in_flight', { grouping: 'Slow' })) === 3)
  upstream.answerAll()
  await Promise.all(asked)

  await eventually(async () => (await count('sidegate_http_requests_in_flight', { grouping: 'Slow' })) === 0)
  const answered = { upstream: 'slow', code_class: '2xx' }
  await eventually(async () => (await count('sidegate_upstream_duration_seconds_count', answered)) === 3)
})

t.test('the time of the upstream is no overhead of ours', async t => {
  const before = await count('sidegate_overhead_seconds_count', { grouping: 'Slow' })
  const asked = fetch(`${sidegate.url}/slow/a`)
  await eventually(() => upstream.waiting() === 1)
  const waitedSinceMs = performance.now()
  await eventually(() => performance.now() - waitedSinceMs > 300)
  upstream.answerAll()
  await asked

  await eventually(async () => (await count('sidegate_overhead_seconds_count', { grouping: 'Slow' })) > before)
  const totalSec = await count('sidegate_http_request_duration_seconds_sum', { grouping: 'Slow' })
  const overheadSec = await count('sidegate_overhead_seconds_sum', { grouping: 'Slow' })
  t.ok(totalSec - overheadSec >= 0.3)
})

const familyOf = (name: string): string => name.replace(/_(bucket|sum|count)$/, '')

t.test('both formats are served, and every series has the labels its declaration names', async t => {
  const text = await fetchFreshMetrics(sidegate.admin, {
    headers: { accept: 'application/openmetrics-text;q=0, text/plain' },
  })
  const openMetrics = await fetchFreshMetrics(sidegate.admin, {
    headers: { accept: 'application/openmetrics-text; version=1.0.0' },
  })

  t.match(text.headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
  t.match(openMetrics.headers.get('content-type'), /^application\/openmetrics-text; version=1\.0\.0/)
  const bodies = [await text.text(), await openMetrics.text()]
  t.ok(bodies[1]?.endsWith('\n# EOF\n'))
  const labelsOf = new Map<string, readonly string[]>(Object.values(metrics).map(({ name, labels }) => [name, labels]))
  const misfits = bodies
    .flatMap(body => parseExposition(body).samples)
    .filter(({ name, labels }) => {
      const declared = labelsOf.get(name) ?? labelsOf.get(familyOf(name)) ?? ['undeclared']
      const found = Object.keys(labels).filter(label => label !== 'le')
      return found.sort().join() !== [...declared].sort().join()
    })
  t.same(misfits, [])
})

/** The series that there are now, but for those of the store, which is also called when no caller asks anything. */
const findSeries = async (): Promise<readonly string[]> =>
  (await scrape(sidegate.admin)).samples.filter(({ name }) => !name.startsWith('sidegate_store_')).map(seriesOf)

t.test('paths, methods, clients and tokens of the callers make no series', async t => {
  const anything = async (round: number): Promise<void> => {
    const word = `${round}-${Math.random()}`
    await fetch(`${sidegate.url}/${word}/${word}?${word}`)
    await fetch(`${sidegate.url}/${word}`, { method: `METHOD${round}`.replace(/\d/g, '') })
    await fetch(`${sidegate.url}/${word}`, { method: ['PUT', 'DELETE', 'PATCH'][round % 3] ?? '' })
    await post('/token', { grant_type: word }, `Basic ${btoa(`${word}:${word}`)}`)
    await post('/introspect', { token: word })
    const slow = fetch(`${sidegate.url}/slow/${word}`, { headers: { 'user-agent': word, 'x-request-id': word } })
    await eventually(() => upstream.waiting() === 1)
    upstream.answerAll()
    await slow
  }
  for (let round = 0; round < 6; round++) await anything(round)
  const before = new Set(await findSeries())

  for (let round = 6; round < 24; round++) await anything(round)

  const after = await findSeries()
  t.same(
    after.filter(series => !before.has(series)),
    [],
  )
})

t.test('nothing of the admin port is on the traffic port', async t => {
  for (const path of ['/metrics', '/livez', '/readyz', '/version']) {
    t.equal((await fetch(sidegate.url + path)).status, 404, path)
    t.equal((await fetch(sidegate.admin + path)).status, 200, path)
  }
})

t.test('the admin port takes GET and HEAD alone', async t => {
  const head = await fetch(`${sidegate.admin}/livez`, { method: 'HEAD' })
  const post = await fetch(`${sidegate.admin}/livez`, { method: 'POST' })

  t.equal(head.status, 200)
  t.equal(post.status, 405)
  t.equal(post.headers.get('allow'), 'GET, HEAD')
})
