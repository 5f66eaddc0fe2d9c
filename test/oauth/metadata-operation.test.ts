import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { fetchFreshMetrics } from '../support/fresh-metrics.ts'
import { basic } from './support/authorization-server.ts'
import { startOAuth } from './support/running.ts'

const operations = [
  { method: 'GET', path: '/metadata', serves: 'metadata', credentials: 'query' },
  { method: 'GET', path: '/.well-known/oauth-authorization-server', serves: 'discovery' },
]

t.test('the metadata operation with credentials in its URL', async t => {
  const client = { client_id: 'app', client_secret: 's3cr3t-in-url', grant_types: ['client_credentials'] }
  const gateway = await startOAuth(t, {
    workers: 1,
    store: 'memory:',
    groupings: [{ name: 'OAuth', operations }],
    clients: [client],
  })
  const place = (fields: Readonly<Record<string, string>>): string =>
    `${gateway.url}/metadata?${new URLSearchParams(fields)}`
  const right = { client_id: 'app', client_secret: 's3cr3t-in-url' }

  await t.test(
    'it returns the discovery document, with the query or Basic, and is not cached (RFC 6749 section 2.3.1; checklist 95)',
    async t => {
      const discovery = await (await fetch(`${gateway.url}/.well-known/oauth-authorization-server`)).json()

      const byBasic = { headers: { authorization: basic('app', 's3cr3t-in-url') } }
      for (const answer of [await fetch(place(right)), await fetch(`${gateway.url}/metadata`, byBasic)]) {
        t.equal(answer.status, 200)
        t.equal(answer.headers.get('cache-control'), 'no-store')
        t.equal(answer.headers.get('access-control-allow-origin'), null)
        t.same(await answer.json(), discovery)
      }
    },
  )

  await t.test(
    'every fault of the credentials gets the same bytes with 401 (RFC 6749 section 2.3.1; checklist 95)',
    async t => {
      const wrong = [
        {},
        { client_id: 'app' },
        { ...right, client_secret: 's3cr3t-in-urL' },
        { ...right, client_id: 'nobody' },
      ]

      const bodies = new Set<string>()
      for (const fields of wrong) {
        const answer = await fetch(place(fields))
        t.equal(answer.status, 401)
        t.equal(answer.headers.get('cache-control'), 'no-store')
        t.match(answer.headers.get('www-authenticate'), /^Basic /)
        bodies.add(await answer.text())
      }
      t.equal(bodies.size, 1)
    },
  )

  await t.test('the secret is in no log line and no metric (RFC 6749 section 2.3.1; checklist 95)', async t => {
    const lines = (): readonly string[] => gateway.output.filter(line => line.includes('"path":"/metadata"'))
    await eventually(() => lines().length >= 6)

    const metrics = await (await fetchFreshMetrics(gateway.admin)).text()
    t.match(metrics, /\/metadata/)
    t.notMatch(gateway.output.join('\n') + metrics, /s3cr3t/i)
  })
})
