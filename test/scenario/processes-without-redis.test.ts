import t from 'tap'
import { logEntries } from '../cluster/support/gateway.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import { startSidegate } from '../support/sidegate.ts'
import { scrape, sumOf } from '../telemetry/support/exposition.ts'

const basic = `Basic ${Buffer.from('app:app-secret').toString('base64')}`

/** Well formed, so that a worker needs the keys of the store to find that its issuer is another one. */
const jwtOfAnother = ['{"alg":"ES256","typ":"at+jwt","kid":"other"}', '{"exp":4102444800}', 'x'.repeat(64)]
  .map(part => Buffer.from(part).toString('base64url'))
  .join('.')

/** Within this time of Redis coming back everything is as if it had never been away, in milliseconds. */
const recoveryMs = 2000

const config = {
  workers: 2,
  plans: { basic: { rate: '10000/1minute', whenStoreFails: 'local' } },
  groupings: [
    {
      name: 'OAuth',
      operations: [
        { method: 'POST', path: '/token', serves: 'token' },
        { method: 'POST', path: '/introspect', serves: 'introspect' },
        { method: 'GET', path: '/metadata', serves: 'metadata', credentials: 'query' },
      ],
    },
  ],
  clients: [{ client_id: 'app', client_secret: 'app-secret', grant_types: ['client_credentials'] }],
}

t.test(
  'without Redis it starts, ready and loud: plans locally, OAuth 503, and all well once Redis is there',
  async t => {
    const redis = await startRedis(t)
    await redis.kill()
    const sidegate = await startSidegate(t, { ...config, store: redis.url })
    const post = (path: string, form: Readonly<Record<string, string>>): Promise<Response> =>
      fetch(sidegate.url + path, {
        method: 'POST',
        headers: { authorization: basic, connection: 'close' },
        body: new URLSearchParams(form),
      })
    const getToken = (): Promise<Response> => post('/token', { grant_type: 'client_credentials' })
    const verbose = async (): Promise<string> => (await fetch(`${sidegate.admin}/readyz?verbose`)).text()

    const refused = await getToken()
    t.equal(refused.status, 503)
    t.match(refused.headers.get('retry-after'), /^[1-9]\d*$/)
    t.match(await refused.json(), { error: 'temporarily_unavailable' })
    t.equal((await post('/introspect', { token: jwtOfAnother })).status, 503)
    t.equal((await fetch(`${sidegate.admin}/readyz`)).status, 200)
    const why = `not connected to Redis at 127.0.0.1:${redis.port}: connect ECONNREFUSED 127.0.0.1:${redis.port}`
    t.ok((await verbose()).includes(`\nstore: redis, down (${why})\nplan limits: local (${why})\n`), await verbose())
    t.match(await (await fetch(`${sidegate.url}/metadata?client_id=app&client_secret=app-secret`)).json(), {
      issuer: /./,
    })
    await eventually(async () => sumOf(await scrape(sidegate.admin), 'sidegate_store_up', { store: 'redis' }) === 0)
    await eventually(async () => {
      const exposition = await scrape(sidegate.admin)
      return sumOf(exposition, 'sidegate_plan_decisions_total', { plan: 'basic', decision: 'local' }) >= 3
    })
    for (const part of ['store', 'limiter']) {
      const lines = logEntries(sidegate, 'store_down').filter(entry => entry.part === part)
      t.match(lines, [{ reason: why }])
      t.equal(lines.length, 1, `one line for the ${part}`)
    }

    await redis.start()
    await eventually(async () => /^store: redis, ok\nplan limits: ok$/m.test(await verbose()), recoveryMs)
    // Every worker reads the keys for itself: so many connections reach them all.
    await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, getToken))
      return answers.every(({ status }) => status === 200)
    }, recoveryMs)

    const issued = await getToken()
    const { access_token } = (await issued.json()) as { access_token: string }
    t.match(await (await post('/introspect', { token: access_token })).json(), { active: true })
    await eventually(async () => {
      const exposition = await scrape(sidegate.admin)
      return sumOf(exposition, 'sidegate_plan_decisions_total', { plan: 'basic', decision: 'allowed' }) >= 2
    })
    t.equal(sumOf(await scrape(sidegate.admin), 'sidegate_store_up', { store: 'redis' }), 1)
  },
)
