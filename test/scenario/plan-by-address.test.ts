import t, { type Test } from 'tap'
import { startStrictUpstream } from '../support/recording-upstream.ts'
import { startRedis } from '../support/redis.ts'
import { startSidegate, type TestConfig } from '../support/sidegate.ts'

/** A forwarded operation that asks for no credentials, under a plan that is not the first. */
const startOpenGateway = async (t: Test, store: TestConfig): Promise<string> => {
  const upstream = await startStrictUpstream(t)
  const { url } = await startSidegate(t, {
    workers: 2,
    trustedProxies: ['127.0.0.1'],
    plans: { partner: { rate: '9/1hour' }, open: { rate: '3/1hour' } },
    groupings: [
      {
        name: 'News',
        upstream: 'news',
        operations: [{ method: 'GET', path: '/news', credentials: 'none', plan: 'open' }],
      },
    ],
    upstreams: { news: { targets: [upstream.url] } },
    ...store,
  })
  return `${url}/news`
}

const get = (url: string, address: string): Promise<Response> => fetch(url, { headers: { 'x-forwarded-for': address } })

const statusesOf = async (url: string, addresses: readonly string[]): Promise<readonly number[]> => {
  const answers = await Promise.all(addresses.map(address => get(url, address)))
  return answers.map(({ status }) => status).sort()
}

const holdsByAddress = async (t: Test, url: string): Promise<void> => {
  t.same(await statusesOf(url, Array(6).fill('192.0.2.1')), [200, 200, 200, 429, 429, 429])
  const other = await get(url, '192.0.2.2')
  t.equal(other.status, 200, 'another address')
  t.equal(other.headers.get('ratelimit-policy'), '"open";q=3;w=3600')

  const together = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8::4']
  t.same(await statusesOf(url, together), [200, 200, 200, 429], 'a /64 counts as one')
  t.equal((await get(url, '2001:db8:0:1::1')).status, 200, 'the next /64')
}

t.test('an operation for everybody is limited by address, over workers with the embedded store', async t => {
  await holdsByAddress(t, await startOpenGateway(t, {}))
})

t.test('an operation for everybody is limited by address, over workers through Redis', async t => {
  const redis = await startRedis(t)

  await holdsByAddress(t, await startOpenGateway(t, { store: redis.url }))
})
