import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { startStrictUpstream } from '../../support/recording-upstream.ts'
import { type Fields, type Posted, post, send } from '../support/post.ts'
import { operations } from '../support/running.ts'
import { newCode, redeem } from './support/browser.ts'
import { confidentialClient, publicClient } from './support/clients.ts'
import { onEachStore } from './support/each-store.ts'
import { workersAt } from './support/workers-at.ts'

const upstream = await startStrictUpstream(t)

const setup = () => ({
  workers: 4,
  groupings: [
    { name: 'OAuth', operations },
    {
      name: 'Accounts',
      basePath: '/accounts',
      upstream: 'accounts',
      operations: [{ method: 'GET', path: '/**', scopes: ['read'] }],
    },
  ],
  upstreams: { accounts: { targets: [upstream.url] } },
  clients: [confidentialClient('app'), confidentialClient('other', { introspects: 'all' }), publicClient('spa')],
})

const inactive = '{"active":false}'

onEachStore('G. Revocation', setup, async (t, { url, gateway, redis, beside }) => {
  const opaque = await beside({ tokens: { accessToken: { format: 'opaque' } } })
  const introspect = (token: unknown, at = url): Promise<Posted> =>
    post(`${at}/introspect`, { token: String(token) }, 'other')
  const isActive = async (token: unknown): Promise<boolean> => {
    const { body } = await post(`${url}/introspect`, { token: String(token) }, 'app')
    return body.active === true
  }
  const revoke = (token: unknown, fields: Fields = {}, as = 'app'): Promise<Posted> =>
    post(`${url}/revoke`, { token: String(token), ...fields }, as)
  const issue = async (at = url): Promise<string> =>
    String((await post(`${at}/token`, { grant_type: 'client_credentials' }, 'app')).body.access_token)
  const refresh = (refresh_token: unknown, at = url): Promise<Posted> =>
    post(`${at}/token`, { grant_type: 'refresh_token', refresh_token: String(refresh_token) }, 'app')
  /** A grant of alice, with access tokens of both formats. */
  const signIn = async (at: string) => (await redeem(at, await newCode(at))).body

  await t.test(
    'after the response to a revocation every worker and every replica reports the token as inactive (RFC 7662 section 4; checklist 74)',
    async t => {
      for (const token of [await issue(), await issue(opaque.url)]) {
        t.match((await introspect(token)).body, { active: true })
        t.match((await introspect(token, opaque.url)).body, { active: true })

        t.equal((await revoke(token)).status, 200)

        const asked = Array.from({ length: 24 }, (_, n) => introspect(token, n % 3 === 0 ? opaque.url : url))
        t.ok((await Promise.all(asked)).every(({ text }) => text === inactive))
      }
      await eventually(() => workersAt(gateway, '/introspect') > 1)
    },
  )

  await t.test(
    'every worker and replica soon refuses a revoked token at the API (RFC 7662 section 4; checklist 74)',
    async t => {
      const callAll = async (token: string): Promise<ReadonlySet<number>> => {
        const headers = { authorization: `Bearer ${token}` }
        const calls = Array.from({ length: 30 }, (_, n) =>
          send(`${n % 3 === 0 ? opaque.url : url}/accounts/x`, { method: 'GET', headers }),
        )
        return new Set((await Promise.all(calls)).map(({ status }) => status))
      }
      const [revoked, kept] = [await issue(), await issue()]
      t.same(await callAll(revoked), new Set([200]))

      t.equal((await revoke(revoked)).status, 200)

      await eventually(async () => !(await callAll(revoked)).has(200))
      t.same(await callAll(kept), new Set([200]))
    },
  )

  await t.test(
    'valid, unknown and already revoked tokens get 200, whatever the hint (RFC 7009 section 2.1; checklist 76)',
    async t => {
      const { access_token, refresh_token } = await signIn(url)
      const tokens = [access_token, await issue(opaque.url), refresh_token]

      for (const token of [...tokens, ...tokens, 'unknown', `${'A'.repeat(22)}.${'A'.repeat(43)}`]) {
        const { status, headers, text } = await revoke(token, { token_type_hint: 'magic' })
        t.equal(status, 200)
        t.equal(text, '')
        t.equal(headers.get('cache-control'), 'no-store')
        t.notOk(await isActive(token))
      }
      t.match(await post(`${url}/revoke`, {}, 'app'), { status: 400, body: { error: 'invalid_request' } })
      t.match(await revoke(await issue(), {}, 'nobody'), { status: 401, body: { error: 'invalid_client' } })
    },
  )

  await t.test("another client's token is refused and stays active (RFC 7009 section 2.1; checklist 76)", async t => {
    const { access_token, refresh_token } = await signIn(url)

    for (const token of [access_token, await issue(opaque.url), refresh_token]) {
      for (const [fields, as] of [
        [{}, 'other'],
        [{ client_id: 'spa' }, undefined],
      ] as const) {
        const refused = await post(`${url}/revoke`, { token: String(token), ...fields }, as)
        t.match(refused, { status: 400, body: { error: 'invalid_grant' } })
      }
      t.ok(await isActive(token))
    }
    t.match(await refresh(refresh_token), { status: 200 })
  })

  await t.test(
    'the revocation of a refresh token revokes the access tokens of its grant, and of no other (RFC 7009 section 2.1; checklist 77)',
    async t => {
      for (const at of [url, opaque.url]) {
        const [first, another] = [await signIn(at), await signIn(at)]
        const second = await refresh(first.refresh_token, at)
        t.equal(second.status, 200)

        t.equal((await revoke(first.refresh_token)).status, 200)

        for (const token of [first.access_token, second.body.access_token, first.refresh_token]) {
          t.notOk(await isActive(token))
        }
        t.match(await refresh(first.refresh_token), { status: 400, body: { error: 'invalid_grant' } })
        for (const token of [another.access_token, another.refresh_token]) t.ok(await isActive(token))
      }
    },
  )

  await t.test('the revocation of an access token leaves its grant (RFC 7009 section 2.1; checklist 77)', async t => {
    for (const at of [url, opaque.url]) {
      const { access_token, refresh_token } = await signIn(at)

      t.equal((await revoke(access_token)).status, 200)

      t.notOk(await isActive(access_token))
      t.ok(await isActive(refresh_token))
      const { body } = await refresh(refresh_token)
      t.ok(await isActive(body.access_token))
    }
  })

  await t.test(
    'a public client may revoke a replaced refresh token, and its grant is revoked (RFC 7009 section 2.1; checklist 77)',
    async t => {
      const spa = { client_id: 'spa' }
      const first = await redeem(url, await newCode(url, spa), spa, null)
      const next = await post(`${url}/token`, {
        grant_type: 'refresh_token',
        refresh_token: String(first.body.refresh_token),
        ...spa,
      })
      t.match((await introspect(next.body.access_token)).body, { active: true })

      const revoked = await post(`${url}/revoke`, { token: String(first.body.refresh_token), ...spa })

      t.equal(revoked.status, 200)
      for (const { body } of [first, next]) t.equal((await introspect(body.access_token)).text, inactive)
      const again = { grant_type: 'refresh_token', refresh_token: String(next.body.refresh_token), ...spa }
      t.match(await post(`${url}/token`, again), { status: 400, body: { error: 'invalid_grant' } })
    },
  )

  if (!redis) return
  const { refresh_token } = await signIn(url)
  const tokens = [await issue(), await issue(opaque.url), refresh_token]
  for (const away of ['silent', 'gone'] as const) {
    await t.test(
      `while Redis is away the answer is 503 with Retry-After (${away}) (RFC 7009 section 2.2.1; checklist 78)`,
      async t => {
        if (away === 'silent') redis.pause()
        else await redis.kill()

        const refused: Posted[] = []
        await eventually(async () => {
          // A JWT is verified without the store; a worker notices the outage within a third of a second.
          const asked = await post(`${url}/token`, { grant_type: 'client_credentials' }, 'app')
          if (asked.status === 503) refused.push(asked)
          return refused.length > 0
        })
        refused.push(await refresh(refresh_token))
        refused.push(...(await Promise.all(tokens.flatMap(token => [introspect(token), revoke(token)]))))

        for (const answer of refused) {
          t.match(answer, { status: 503, body: { error: 'temporarily_unavailable', active: undefined } })
          t.ok(Number(answer.headers.get('retry-after')) >= 1)
          t.equal(answer.headers.get('cache-control'), 'no-store')
        }
        redis.resume()
      },
    )
  }
  await t.test('after the outage every endpoint works again (RFC 7009 section 2.2.1; checklist 78)', async t => {
    await redis.start()

    for (const at of [url, opaque.url]) await t.resolves(eventually(async () => isActive(await issue(at))))
    const token = await issue()
    await t.resolves(eventually(async () => (await revoke(token)).status === 200))
  })
})
