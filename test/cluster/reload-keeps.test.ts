import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import type { RunningSidegate } from '../support/sidegate.ts'
import { reload } from './support/config-file.ts'
import { logEntries, startGateway } from './support/gateway.ts'

const plans = (rate: string) => ({ plans: { p: { rate } } })
const shop = { client_id: 'shop', client_secret: 'shop', grant_types: ['client_credentials'] }
const signing = (alg: string) => ({ tokens: { accessToken: { alg } } })

const setting = {
  workers: 2,
  groupings: [
    {
      name: 'OAuth',
      operations: [
        { method: 'POST', path: '/token', serves: 'token' },
        { method: 'POST', path: '/introspect', serves: 'introspect', plan: 'none' },
        { method: 'POST', path: '/revoke', serves: 'revoke', plan: 'none' },
      ],
    },
  ],
  clients: [shop],
}

const post = (sidegate: RunningSidegate, path: string, parameters: Readonly<Record<string, string>>) =>
  fetch(sidegate.url + path, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('shop:shop')}`, connection: 'close' },
    body: new URLSearchParams(parameters),
  })

const askToken = (sidegate: RunningSidegate) => post(sidegate, '/token', { grant_type: 'client_credentials' })

const takeToken = async (sidegate: RunningSidegate): Promise<string> =>
  ((await (await askToken(sidegate)).json()) as { access_token: string }).access_token

/** The algorithm with which a new token is signed. */
const takeAlg = async (sidegate: RunningSidegate): Promise<unknown> => {
  const [header = ''] = (await takeToken(sidegate)).split('.')
  return (JSON.parse(atob(header)) as { alg: unknown }).alg
}

/** How many of `requests` token requests the plan allows. */
const spend = async (sidegate: RunningSidegate, requests: number): Promise<number> => {
  let granted = 0
  for (let i = 0; i < requests; i++) if ((await askToken(sidegate)).status === 200) granted++
  return granted
}

for (const kind of ['sqlite', 'redis'] as const) {
  t.test(`${kind}: past requests still count when a plan changes, and the new rate applies from then on`, async t => {
    const store = kind === 'redis' ? { store: (await startRedis(t)).url } : {}
    const sidegate = await startGateway(t, { ...setting, ...plans('4/1hour'), ...store })
    t.equal(await spend(sidegate, 3), 3)

    await reload(sidegate, plans('2/1hour'))
    t.equal(await spend(sidegate, 3), 0)
    await reload(sidegate, plans('6/1hour'))
    t.equal(await spend(sidegate, 6), 3)
  })
}

t.test('valid tokens remain valid and revoked tokens remain revoked when the authorization server changes', async t => {
  const sidegate = await startGateway(t, { ...setting, ...plans('100/1second') })
  const isActive = async (token: string) =>
    ((await (await post(sidegate, '/introspect', { token })).json()) as { active: boolean }).active
  const [kept, revoked] = [await takeToken(sidegate), await takeToken(sidegate)]
  await post(sidegate, '/revoke', { token: revoked })

  await reload(sidegate, { ...signing('PS256'), clients: [{ ...shop, client_name: 'Another name' }] })

  t.equal(await isActive(kept), true)
  t.equal(await isActive(revoked), false)
  t.equal(await takeAlg(sidegate), 'PS256')
})

t.test(
  'a reload that needs an unavailable store is refused, keeps the current keys, and succeeds once the store is back',
  async t => {
    const redis = await startRedis(t)
    const sidegate = await startGateway(t, { ...setting, ...plans('100/1second'), store: redis.url })
    t.equal((await askToken(sidegate)).status, 200)
    await redis.kill()

    await reload(sidegate, signing('PS256'))
    t.match(logEntries(sidegate, 'config_refused'), [{ cause: 'signal', problems: [/store/] }])
    await reload(sidegate, { ...signing('ES256'), clients: [{ ...shop, client_name: 'Another name' }] })
    t.equal(
      logEntries(sidegate, 'config_reloaded').length,
      1,
      'a change that does not need the store is served without it',
    )
    await reload(sidegate, signing('PS256'))
    await redis.start()
    await eventually(() => logEntries(sidegate, 'config_reloaded').length === 2)

    t.equal(await takeAlg(sidegate), 'PS256')
  },
)
