import t from 'tap'
import { client, clientSecret, fetchToken, sampleOf, scrape, startGateway } from '../gateway/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { headerOf, type RawAnswer } from '../support/raw-answer.ts'
import { ask } from '../support/raw-client.ts'
import { startStrictUpstream } from '../support/recording-upstream.ts'

const request = (line: string, fields: readonly string[], body = ''): string =>
  [`${line} HTTP/1.1`, 'Host: gw.test', ...fields, '', body].join('\r\n')

const basic = (client_id: string, secret = clientSecret): string =>
  `Authorization: Basic ${btoa(`${client_id}:${secret}`)}`

const askForToken = (url: string, client_id: string, secret?: string): Promise<RawAnswer> => {
  const body = 'grant_type=client_credentials'
  const fields = [
    basic(client_id, secret),
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
  ]
  return ask(url, request('POST /token', fields, body))
}

const plans = {
  small: { rate: '3/1minute', operations: { 'POST /revoke': '1/1minute' } },
  large: { rate: '100000/1second' },
}

t.test('a plan limits forwarded and served operations, and every response has its fields', async t => {
  const upstream = await startStrictUpstream(t)
  const gateway = await startGateway(
    t,
    { up: upstream.url },
    { plans, clients: [client('app', { plan: 'small' }), client('other', { plan: 'large' })] },
  )
  const { url } = gateway
  const app = await fetchToken(url)
  const other = await fetchToken(url, {}, 'other')
  const get = (token: string) => ask(url, request('GET /up-guarded/a', [`Authorization: Bearer ${token}`]))

  await t.test('a forwarded operation: the fields count down, then 429 as a problem', async t => {
    for (const left of [2, 1, 0]) {
      const allowed = await get(app)
      t.equal(allowed.status, 200)
      t.equal(headerOf(allowed, 'ratelimit-policy'), '"small";q=3;w=60')
      t.match(headerOf(allowed, 'ratelimit'), new RegExp(`^"small";r=${left};t=([1-9]|[1-5]\\d|60)$`))
    }
    const before = upstream.requests.length
    const refused = await get(app)

    t.equal(refused.status, 429)
    t.equal(headerOf(refused, 'content-type'), 'application/problem+json')
    t.match(JSON.parse(refused.body.toString()), {
      title: 'Too Many Requests',
      status: 429,
      code: 'PLAN_EXCEEDED',
      request_id: headerOf(refused, 'x-request-id'),
    })
    t.match(headerOf(refused, 'retry-after'), /^([1-9]|[1-5]\d|60)$/)
    t.equal(headerOf(refused, 'ratelimit'), `"small";r=0;t=${headerOf(refused, 'retry-after')}`)
    t.equal(upstream.requests.length, before, 'nothing of it went upstream')
  })

  await t.test('nothing of a refused body is waited for', async t => {
    const fields = [`Authorization: Bearer ${app}`, 'Content-Length: 1000000']

    t.equal((await ask(url, request('POST /up-guarded/a', fields))).status, 429)
  })

  await t.test("another client's plan, and another grouping's count, are untouched", async t => {
    t.equal((await get(other)).status, 200)
    t.equal((await askForToken(url, 'app')).status, 200)
  })

  await t.test('an OAuth operation: 429 in the words of OAuth', async t => {
    t.equal((await askForToken(url, 'app')).status, 200, 'the third in this grouping')
    const refused = await askForToken(url, 'app')

    t.equal(refused.status, 429)
    t.equal(headerOf(refused, 'content-type'), 'application/json')
    t.equal(headerOf(refused, 'cache-control'), 'no-store')
    t.match(JSON.parse(refused.body.toString()), { error: 'rate_limit_exceeded', error_description: String })
    t.match(headerOf(refused, 'retry-after'), /^([1-9]|[1-5]\d|60)$/)
    t.equal(headerOf(refused, 'ratelimit-policy'), '"small";q=3;w=60')
  })

  await t.test("an operation's own rate has a count of its own", async t => {
    const body = 'token=nothing'
    const fields = [basic('app'), 'Content-Type: application/x-www-form-urlencoded', `Content-Length: ${body.length}`]
    const revoke = () => ask(url, request('POST /revoke', fields, body))

    const first = await revoke()
    t.equal(first.status, 200)
    t.equal(headerOf(first, 'ratelimit-policy'), '"small";q=1;w=60')
    t.equal((await revoke()).status, 429)
  })

  await t.test('an unauthenticated caller does not use up the plan of the client that it names', async t => {
    for (let i = 0; i < 5; i++) await askForToken(url, 'other', 'wrong')

    const metrics = await scrape(gateway)
    t.equal(sampleOf(metrics, 'sidegate_plan_decisions_total', '"large"', '"denied"'), 0)
    t.equal((await askForToken(url, 'other')).status, 200)
  })

  await t.test('an operation without a plan has no RateLimit fields', async t => {
    const open = await ask(url, request('GET /up/a', []))

    t.equal(headerOf(open, 'ratelimit'), undefined)
    t.equal(headerOf(open, 'ratelimit-policy'), undefined)
  })

  await t.test('decisions are counted', async t => {
    await eventually(async () => {
      const metrics = await scrape(gateway)
      return sampleOf(metrics, 'sidegate_plan_decisions_total', '"small"', '"up-guarded"', '"denied"') === 2
    })
    t.equal(sampleOf(await scrape(gateway), 'sidegate_plan_decisions_total', '"up-guarded"', '"small"', '"allowed"'), 3)
  })
})

t.test('failed proofs are limited by name and address', async t => {
  const gateway = await startGateway(
    t,
    { up: 'http://127.0.0.1:9' },
    { trustedProxies: ['127.0.0.1'], login: { failures: '10/1minute' } },
  )
  const { url } = gateway
  const guess = (client_id: string, secret: string, from: string) =>
    ask(url, request('GET /metadata', [basic(client_id, secret), `X-Forwarded-For: ${from}`]))

  for (let i = 0; i < 10; i++) t.equal((await guess('app', `wrong${i}`, '192.0.2.1')).status, 401)
  const refused = await guess('app', 'wrong', '192.0.2.1')

  t.equal(refused.status, 429, 'the eleventh')
  t.match(headerOf(refused, 'retry-after'), /^([1-9]|[1-5]\d|60)$/)
  t.match(JSON.parse(refused.body.toString()), { error: 'rate_limit_exceeded' })
  t.equal((await guess('app', clientSecret, '192.0.2.1')).status, 429, 'the right secret tells a guesser nothing')
  t.equal((await guess('other', clientSecret, '192.0.2.1')).status, 200, 'another client from there')
  t.equal((await guess('app', clientSecret, '192.0.2.2')).status, 200, 'the client from elsewhere')
})

t.test('bad tokens are limited by address, good ones never', async t => {
  const upstream = await startStrictUpstream(t)
  const { url } = await startGateway(t, { up: upstream.url }, { login: { failures: '1/1minute' } })
  const token = await fetchToken(url)
  const get = (bearer: string) => ask(url, request('GET /up-guarded/a', [`Authorization: Bearer ${bearer}`]))

  for (let i = 0; i < 10; i++) t.equal((await get(`bad${i}`)).status, 401)
  const refused = await get('bad')

  t.equal(refused.status, 429)
  t.match(JSON.parse(refused.body.toString()), { code: 'TOO_MANY_FAILURES' })
  t.ok(Number(headerOf(refused, 'retry-after')) > 0)
  t.equal((await get(token)).status, 200)
})
