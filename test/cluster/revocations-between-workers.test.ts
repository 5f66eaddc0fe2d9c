/** The other workers of the machine refuse a token that one worker revokes, without reading the store's feed. */
import t from 'tap'
import { newCode, redeem } from '../oauth/checklist/support/browser.ts'
import { confidentialClient } from '../oauth/checklist/support/clients.ts'
import { workersAt } from '../oauth/checklist/support/workers-at.ts'
import { post, send } from '../oauth/support/post.ts'
import { operations, startOAuth, users } from '../oauth/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { startStrictUpstream } from '../support/recording-upstream.ts'
import { startRedis } from '../support/redis.ts'

const workers = 4
const path = '/accounts/1'

t.test('every worker refuses a revoked JWT while Redis answers no poll', async t => {
  const redis = await startRedis(t)
  const upstream = await startStrictUpstream(t)
  const gateway = await startOAuth(t, {
    workers,
    store: redis.url,
    groupings: [
      { name: 'OAuth', operations },
      {
        name: 'Accounts',
        basePath: '/accounts',
        upstream: 'accounts',
        operations: [{ method: 'GET', path: '/**', scopes: ['read'], plan: 'none' }],
      },
    ],
    upstreams: { accounts: { targets: [upstream.url] } },
    clients: [confidentialClient('app')],
    login: { failures: '100000/1minute', users: await users() },
  })
  const { url } = gateway
  const call = async (token: unknown): Promise<number> =>
    (await send(`${url}${path}`, { method: 'GET', type: undefined, headers: { authorization: `Bearer ${token}` } }))
      .status
  /** Enough new connections that the kernel gives some to each worker. */
  const callEveryWorker = async (token: unknown): Promise<ReadonlySet<number>> =>
    new Set(await Promise.all(Array.from({ length: 16 * workers }, () => call(token))))

  const revocations = {
    'a code is redeemed twice': async (): Promise<unknown> => {
      const code = await newCode(url, { scope: 'read' })
      const { body } = await redeem(url, code)
      t.same(await callEveryWorker(body.access_token), new Set([200]))
      t.equal((await redeem(url, code)).status, 400)
      return body.access_token
    },
    'a client revokes its token': async (): Promise<unknown> => {
      const { body } = await post(`${url}/token`, { grant_type: 'client_credentials' }, 'app')
      t.same(await callEveryWorker(body.access_token), new Set([200]))
      t.equal((await post(`${url}/revoke`, { token: String(body.access_token) }, 'app')).status, 200)
      return body.access_token
    },
  }
  for (const [name, revoke] of Object.entries(revocations)) {
    await t.test(name, async t => {
      const token = await revoke()
      redis.pause()
      t.teardown(redis.resume)

      await eventually(async () => {
        const statuses = await callEveryWorker(token)
        return statuses.size === 1 && statuses.has(401)
      })
      redis.resume()
      // The next lines need the store again, at each worker.
      await eventually(async () => (await newCode(url)) !== '')
    })
  }
  await eventually(() => workersAt(gateway, path) === workers)
})
