import t, { type Test } from 'tap'
import type { OAuthError } from '../../src/errors.ts'
import { Secret } from '../../src/secret.ts'
import { openStore } from '../../src/stores/open.ts'
import { StoreUnavailableError } from '../../src/stores/ports/store-unavailable.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import { newKey } from './fapi/support/jws.ts'
import { createManualClock, issuer, startServer } from './support/authorization-server.ts'
import { post } from './support/post.ts'
import { newProof } from './support/proofs.ts'
import { startOAuth } from './support/running.ts'

const grant = { grant_type: 'client_credentials' }
/** A token of the right form, so that the store has to be called. */
const refreshToken = `${'A'.repeat(22)}.${'A'.repeat(43)}`

const startOverRedis = async (t: Test, url: string) => {
  const clock = createManualClock(Date.now())
  const store = await openStore({ kind: 'redis', mode: 'single', url: new Secret(url) }, clock)
  t.teardown(() => store.close())
  return startServer(t, {}, clock, store)
}

t.test(
  'while the store is away no token is issued, introspected or revoked, and JWTs are still accepted (RFC 7009 section 2.2.1; checklist 78)',
  async t => {
    const redis = await startRedis(t)
    const server = await startOverRedis(t, redis.url)
    const as = { as: 'app' }
    const token = String((await server.token(grant, as)).body.access_token)
    t.ok(await server.server.verifyAccessToken(token))

    await redis.kill()

    await t.rejects(server.introspect({ token }, as), StoreUnavailableError)
    await t.rejects(server.revoke({ token }, as), StoreUnavailableError)
    await eventually(() =>
      server.token(grant, as).then(
        () => false,
        error => error instanceof StoreUnavailableError,
      ),
    )
    t.match(server.server.verifyAccessToken(token), { client_id: 'app' })
  },
)

t.test(
  'while the store is away a DPoP proof gets 503, because its earlier use is unknown (RFC 7009 section 2.2.1; checklist 78)',
  async t => {
    const redis = await startRedis(t)
    const { server, clock } = await startOverRedis(t, redis.url)
    const key = newKey('ES256')
    const verify = async (nonce?: string) => {
      const dpop = [newProof(key, { uri: `${issuer}/token`, nowMs: clock.nowMs(), nonce })]
      const proven = server.verifyProof({ dpop, method: 'POST', path: '/token' })
      await server.consume([proven.use])
      return proven
    }
    const nonce = await verify().catch((error: OAuthError) => error.headers['dpop-nonce'])
    t.match(await verify(String(nonce)), { jkt: String })

    await redis.kill()

    await t.rejects(verify(String(nonce)), StoreUnavailableError)
  },
)

t.test(
  'over the wire an outage of the store is 503 with Retry-After (RFC 7009 section 2.2.1; checklist 78)',
  async t => {
    const redis = await startRedis(t)
    const { url } = await startOAuth(t, { workers: 1, store: redis.url })
    const token = String((await post(`${url}/token`, grant, 'app')).body.access_token)

    await redis.kill()

    for (const path of ['/introspect', '/revoke', '/token']) {
      const answer = await post(url + path, { token, grant_type: 'refresh_token', refresh_token: refreshToken }, 'app')
      t.match(answer, { status: 503, body: { error: 'temporarily_unavailable' } }, path)
      t.equal(answer.headers.get('retry-after'), '1')
      t.equal(answer.headers.get('cache-control'), 'no-store')
    }
  },
)

t.test('a store that comes back empty invalidates no JWT: the known keys stay valid', async t => {
  const redis = await startRedis(t)
  const server = await startOverRedis(t, redis.url)
  const token = String((await server.token(grant, { as: 'app' })).body.access_token)
  await redis.kill()
  await redis.start()

  await eventually(() => server.deps.store.ping().then(() => true))

  t.match(await server.introspect({ token }, { as: 'app' }), { body: { active: true } })
})

t.test('a server that starts before its store works as soon as the store does', async t => {
  const redis = await startRedis(t)
  await redis.kill()
  const server = await startOverRedis(t, redis.url)
  await t.rejects(server.token(grant, { as: 'app' }), StoreUnavailableError)
  t.throws(() => server.server.jwks(), StoreUnavailableError)

  await redis.start()
  await eventually(() => server.token(grant, { as: 'app' }).then(({ status }) => status === 200))

  t.match(server.server.jwks().body, { keys: [{ alg: 'ES256' }] })
})
