import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../../support/eventually.ts'
import { type Posted, post } from '../support/post.ts'
import { callback, newCode, redeem } from './support/browser.ts'
import { onEachStore } from './support/each-store.ts'
import { workersAt } from './support/workers-at.ts'

/** Long enough for a slow machine to redeem a code in time, short enough to be waited for. */
const codeLifetimeSec = 4
const secondCallback = `${callback}/two`

const setup = () => ({
  workers: 4,
  tokens: { code: { lifetime: `${codeLifetimeSec}s` } },
  clients: [client('app'), client('other'), client('two', { redirect_uris: [callback, secondCallback] })],
})

const client = (client_id: string, changes: object = {}): object => ({
  client_id,
  client_secret: `${client_id}-secret`,
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: [callback],
  scope: 'read offline_access',
  ...changes,
})

const inactive = '{"active":false}'
const invalidGrant = { status: 400, body: { error: 'invalid_grant' } }

onEachStore('C. Authorization code', setup, async (t, { url, gateway, stored, redis }) => {
  const isActive = async (token: unknown): Promise<boolean> =>
    (await post(`${url}/introspect`, { token: String(token) }, 'app')).text !== inactive
  const old = { unused: await newCode(url), used: await newCode(url), madeAtMs: Date.now() }
  const first = await redeem(url, old.used)

  await t.test(
    'a second redemption is refused and revokes the tokens of the first one (RFC 6749 section 4.1.2; checklist 26)',
    async t => {
      const code = await newCode(url)
      const { status, body } = await redeem(url, code)
      t.equal(status, 200)
      t.ok(await isActive(body.access_token))

      t.match(await redeem(url, code), invalidGrant)

      t.notOk(await isActive(body.access_token))
      t.notOk(await isActive(body.refresh_token))
      const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }
      t.match(await post(`${url}/token`, refresh, 'app'), invalidGrant)
    },
  )

  await t.test(
    'of 50 parallel redemptions over the workers exactly one succeeds, and its tokens are revoked (RFC 6749 section 4.1.2; checklist 27)',
    async t => {
      const code = await newCode(url)

      const replies = await Promise.all(Array.from({ length: 50 }, () => redeem(url, code)))

      const won = replies.filter(({ status }) => status === 200)
      t.equal(won.length, 1)
      t.ok(replies.every(({ status, body }) => status === 200 || (status === 400 && body.error === 'invalid_grant')))
      t.notOk(await isActive(won[0]?.body.access_token), 'the code has leaked')
      await eventually(() => workersAt(gateway, '/token') > 1)
    },
  )

  await t.test(
    'another client learns nothing from its attempts, and only the third one spends the code (RFC 6749 section 4.1.3; checklist 29)',
    async t => {
      const [spared, burnt] = [await newCode(url), await newCode(url)]
      const unknown = await redeem(url, `${'A'.repeat(22)}.${'A'.repeat(43)}`, {}, 'other')
      const tryAsOther = async (code: string, times: number): Promise<readonly Posted[]> => {
        const replies = []
        for (let n = 0; n < times; n++) replies.push(await redeem(url, code, {}, 'other'))
        return replies
      }

      for (const reply of [...(await tryAsOther(spared, 2)), ...(await tryAsOther(burnt, 3))]) {
        t.match(reply, invalidGrant)
        t.equal(reply.text, unknown.text)
      }
      t.match(await redeem(url, spared), { status: 200 })
      t.match(await redeem(url, burnt), invalidGrant)
    },
  )

  await t.test(
    'the redirect_uri is the one of the authorization request (RFC 6749 section 4.1.3; checklist 30)',
    async t => {
      const wrong = [undefined, secondCallback, callback.toUpperCase(), `${callback}/`, `${callback}?a=b`, 'nonsense']
      for (const redirect_uri of wrong) {
        const code = await newCode(url, { client_id: 'two' })
        t.match(await redeem(url, code, { redirect_uri }, 'two'), invalidGrant, String(redirect_uri))
      }
      const second = await newCode(url, { client_id: 'two', redirect_uri: secondCallback })
      t.match(await redeem(url, second, { redirect_uri: secondCallback }, 'two'), { status: 200 })
    },
  )

  await t.test(
    'if the request had no redirect_uri, none or the only registered one is accepted (RFC 6749 section 4.1.3; checklist 30)',
    async t => {
      for (const redirect_uri of [undefined, callback]) {
        const code = await newCode(url, { redirect_uri: undefined })
        t.match(await redeem(url, code, { redirect_uri }), { status: 200 }, String(redirect_uri))
      }
      const code = await newCode(url, { redirect_uri: undefined })
      t.match(await redeem(url, code, { redirect_uri: secondCallback }), invalidGrant)
    },
  )

  await t.test(
    'a code has 256 random bits, and is neither in the store nor in the log (RFC 6749 section 10.10; checklist 31)',
    async t => {
      const codes = [await newCode(url), await newCode(url)]
      const secrets = codes.map(code => code.split('.')[1] ?? '')
      for (const secret of secrets) t.match(secret, /^[A-Za-z0-9_-]{43}$/)
      t.equal(new Set(secrets).size, 2)

      const whileOpen = await stored()
      await redeem(url, codes[0] ?? '')
      const [grantId = ''] = codes[0]?.split('.') ?? []
      t.ok(whileOpen.includes(grantId), 'the search covers the records of codes')
      for (const secret of secrets) {
        t.notOk(whileOpen.includes(secret))
        t.notOk((await stored()).includes(secret))
        t.notOk(gateway.output.join('\n').includes(secret))
      }
    },
  )

  await t.test(
    'after its lifetime a code is refused, and a replay is still detected (RFC 6749 section 4.1.2; checklist 28)',
    async t => {
      t.equal(first.status, 200)
      t.ok(await isActive(first.body.access_token))
      await sleep(Math.max(0, old.madeAtMs + codeLifetimeSec * 1000 + 100 - Date.now()))

      t.match(await redeem(url, old.unused), invalidGrant)
      t.match(await redeem(url, old.used), invalidGrant)
      t.notOk(await isActive(first.body.access_token))
    },
  )

  if (!redis) return
  await t.test(
    'when Redis is cut off during a redemption the client gets 503, and no token stays (checklist 32)',
    async t => {
      const code = await newCode(url)
      redis.pause()
      const cut = await redeem(url, code)
      redis.resume()

      t.match(cut, { status: 503, body: { error: 'temporarily_unavailable' } })
      t.equal(cut.headers.get('cache-control'), 'no-store')
      t.ok(Number(cut.headers.get('retry-after')) >= 1)
      t.same(Object.keys(cut.body).sort(), ['error', 'error_description'])
      let again = cut
      // Each worker finds out for itself that Redis is back.
      await eventually(async () => {
        again = await redeem(url, code)
        return again.status !== 503
      })
      t.ok(again.status === 200 || again.body.error === 'invalid_grant', `${again.status} ${again.text}`)
    },
  )
})
