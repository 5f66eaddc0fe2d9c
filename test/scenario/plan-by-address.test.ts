import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.ts'
import { startStrictUpstream } from '../support/recording-upstream.ts'
import { startRedis } from '../support/redis.ts'
import { type RunningSidegate, startSidegate, type TestConfig } from '../support/sidegate.ts'
import { scrape, sumOf } from '../telemetry/support/exposition.ts'

/** A forwarded operation that asks for no credentials, under a plan that is not the first. */
const startOpenGateway = async (t: Test, store: TestConfig): Promise<RunningSidegate> => {
  const upstream = await startStrictUpstream(t)
  return startSidegate(t, {
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
}

const get = ({ url }: RunningSidegate, address: string): Promise<Response> =>
  fetch(`${url}/news`, { headers: { 'x-forwarded-for': address } })

const statusesOf = async (gateway: RunningSidegate, addresses: readonly string[]): Promise<readonly number[]> => {
  const answers = await Promise.all(addresses.map(address => get(gateway, address)))
  return answers.map(({ status }) => status).sort()
}

/** The gateway's responses to callers with new addresses. @param turn their addresses differ with it */
const askByAddress = async (gateway: RunningSidegate, turn: number) => {
  const prefix = `2001:db8:${turn.toString(16)}`
  const one = await statusesOf(gateway, Array(6).fill(`192.0.2.${2 * turn}`))
  const other = await get(gateway, `192.0.2.${2 * turn + 1}`)
  const together = await statusesOf(
    gateway,
    [1, 2, 3, 4].map(host => `${prefix}::${host}`),
  )
  const next = await get(gateway, `${prefix}:1::1`)
  return { one, other: other.status, policy: other.headers.get('ratelimit-policy'), together, next: next.status }
}

/** How many requests `askByAddress` makes. */
const askedEachTurn = 12

/**
 * On a busy machine the shared count may answer late. A worker decides by its share of the plan then, so such a turn
 * shows nothing: the next turn asks from other addresses.
 */
const untilCounted = async (gateway: RunningSidegate): Promise<Awaited<ReturnType<typeof askByAddress>>> => {
  const decisions = async (decision?: string): Promise<number> =>
    sumOf(await scrape(gateway.admin), 'sidegate_plan_decisions_total', decision === undefined ? {} : { decision })
  const counted = async (): Promise<number> => (await decisions('allowed')) + (await decisions('denied'))
  for (let turn = 0; turn < 100; turn++) {
    const before = await counted()
    const answers = await askByAddress(gateway, turn)
    await eventually(async () => (await decisions()) === (turn + 1) * askedEachTurn)
    if ((await counted()) === before + askedEachTurn) return answers
  }
  throw new Error('the shared count was late in each turn')
}

const holdsByAddress = async (t: Test, gateway: RunningSidegate): Promise<void> => {
  const { one, other, policy, together, next } = await untilCounted(gateway)
  t.same(one, [200, 200, 200, 429, 429, 429])
  t.equal(other, 200, 'another address')
  t.equal(policy, '"open";q=3;w=3600')
  t.same(together, [200, 200, 200, 429], 'a /64 counts as one')
  t.equal(next, 200, 'the next /64')
}

t.test('an operation without credentials is limited by address, over workers with the embedded store', async t => {
  await holdsByAddress(t, await startOpenGateway(t, {}))
})

t.test('an operation without credentials is limited by address, over workers through Redis', async t => {
  const redis = await startRedis(t)

  await holdsByAddress(t, await startOpenGateway(t, { store: redis.url }))
})
