import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { client, clientSecret, sampleOf, scrape, startGateway } from '../gateway/support/running.ts'
import { eventually } from '../support/eventually.ts'

/** A service that answers with the fields that the query names. */
const startLimitedUpstream = async (t: Test): Promise<string> => {
  const server = createServer((req, res) => {
    const { searchParams } = new URL(req.url ?? '/', 'http://up.test')
    res.writeHead(200, Object.fromEntries(searchParams)).end('{}')
  })
  t.teardown(() => server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const authorization = (client_id: string) => ({ authorization: `Basic ${btoa(`${client_id}:${clientSecret}`)}` })

/** Asks for what is behind query credentials, as this client. */
const get = (url: string, client_id: string, query: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${url}/up-query/a?${new URLSearchParams(query)}`, { headers: authorization(client_id) })

t.test('several limits, soft limits and what an upstream says of its own', async t => {
  const gateway = await startGateway(
    t,
    { up: await startLimitedUpstream(t) },
    {
      plans: {
        triple: {
          rate: '5/1minute',
          quota: '7/1hour',
          burst: '3/1second',
          operations: { 'GET /metadata': '1/1minute' },
        },
        gentle: { rate: '2/1minute', mode: 'soft' },
        even: { rate: '60/1hour', algorithm: 'smooth', burst: 2 },
      },
      clients: ['triple', 'gentle', 'even'].map(plan => client(plan, { plan })),
    },
  )
  const { url } = gateway

  await t.test('every limit holds by itself, and stands in the fields by its name', async t => {
    const statuses: number[] = []
    let last = await get(url, 'triple')
    t.equal(
      last.headers.get('ratelimit-policy'),
      '"triple";q=5;w=60, "triple-quota";q=7;w=3600, "triple-burst";q=3;w=1',
    )
    for (statuses.push(last.status); statuses.length < 4; statuses.push(last.status)) last = await get(url, 'triple')

    t.match(last.headers.get('ratelimit'), /^"triple";r=\d;t=\d+, "triple-quota";r=\d;t=\d+, "triple-burst";r=\d;t=1$/)
    await eventually(async () => {
      last = await get(url, 'triple')
      return last.status === 429 && Number(last.headers.get('retry-after')) > 1
    })
    t.match(last.headers.get('ratelimit'), /^"triple";r=0;t=\d+, "triple-quota";r=2;t=\d+, "triple-burst";/)
  })

  await t.test("an operation's own rate eats the quota, and nothing of the plan's rate", async t => {
    const metadata = () => fetch(`${url}/metadata`, { headers: authorization('triple') })

    const first = await metadata()
    t.equal(first.status, 200)
    t.match(first.headers.get('ratelimit'), /^"triple";r=0;/)
    t.equal((await metadata()).status, 429)
  })

  await t.test('a soft plan refuses no request; the metric and one log line have the clients over it', async t => {
    for (let i = 0; i < 6; i++) t.equal((await get(url, 'gentle')).status, 200)

    await eventually(async () => {
      const metrics = await scrape(gateway)
      return sampleOf(metrics, 'sidegate_plan_decisions_total', '"gentle"', '"shadow_denied"') === 4
    })
    const linesOf = (text: string) => gateway.output.filter(line => line.includes(text))
    // Lines come in the order they were written: with the next request's there, all before it are.
    await get(url, 'gentle', { last: 'yes' })
    await eventually(() => linesOf('"client_id":"gentle"').filter(line => line.includes('"request"')).length === 7)
    const lines = linesOf('soft_limit_exceeded')
    t.equal(lines.length, 1)
    t.match(JSON.parse(lines[0] ?? '{}'), { level: 'warn', plan: 'gentle', client_id: 'gentle' })
  })

  await t.test('a smooth plan lets its burst in at once, and then one at a time', async t => {
    const statuses = [await get(url, 'even'), await get(url, 'even'), await get(url, 'even')]
    const refused = statuses.find(({ status }) => status === 429)

    t.match(refused?.headers.get('retry-after'), /^([1-5]\d|60)$/)
    t.match(refused?.headers.get('ratelimit'), /^"even";r=0;t=([1-5]\d|60)$/)
  })

  await t.test("an upstream's items stand beside the gateway's", async t => {
    const answer = await get(url, 'gentle', { RateLimit: '"inner";r=3;t=9', 'RateLimit-Policy': '"inner";q=4;w=9' })

    t.equal(answer.headers.get('ratelimit-policy'), '"inner";q=4;w=9, "gentle";q=2;w=60')
    t.match(answer.headers.get('ratelimit'), /^"inner";r=3;t=9, "gentle";r=0;t=\d+$/)
  })
})

t.test('as API Connect says it', async t => {
  const { url } = await startGateway(
    t,
    { up: await startLimitedUpstream(t) },
    {
      rateLimitHeaders: 'api-connect',
      plans: { 'default-plan': { rate: '2/1day', algorithm: 'calendar' } },
      clients: [client('app')],
    },
  )

  await t.test('fields count down by name', async t => {
    const { headers, status } = await get(url, 'app')

    t.equal(status, 200)
    t.equal(headers.get('x-ratelimit-limit'), 'name=default,2;')
    t.equal(headers.get('x-ratelimit-remaining'), 'name=default,1;')
    t.equal(headers.get('ratelimit'), null)
  })

  await t.test("an upstream's tighter limit goes to the client", async t => {
    const { headers } = await get(url, 'app', {
      'X-RateLimit-Limit': 'name=in,9;',
      'X-RateLimit-Remaining': 'name=in,8;',
    })

    t.equal(headers.get('x-ratelimit-remaining'), 'name=in,8;name=default,0;')
  })

  await t.test('a refusal has the body of API Connect', async t => {
    const refused = await get(url, 'app')

    t.equal(refused.status, 429)
    t.equal(refused.headers.get('content-type'), 'application/json')
    t.equal(refused.headers.get('x-ratelimit-remaining'), 'name=default,0;')
    t.ok(Number(refused.headers.get('retry-after')) > 0)
    t.same(await refused.json(), {
      httpCode: '429',
      httpMessage: 'Too Many Requests',
      moreInformation: 'Rate Limit exceeded',
    })
  })

  await t.test('an OAuth operation has the fields of the plan beside the OAuth error', async t => {
    const metadata = () => fetch(`${url}/metadata`, { headers: authorization('app') })
    await metadata()
    await metadata()

    t.match(await (await metadata()).json(), {
      error: 'rate_limit_exceeded',
      error_description: String,
      httpCode: '429',
      moreInformation: 'Rate Limit exceeded',
    })
  })
})
