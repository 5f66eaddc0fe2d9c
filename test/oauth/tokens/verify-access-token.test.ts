import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createFeedWatch } from '../../../src/oauth/feed-watch.ts'
import { createAuthorizationServer } from '../../../src/oauth/index.ts'
import { createRevocationFeed } from '../../../src/oauth/tokens/revocation-feed.ts'
import { startServer, type TestServer, verifier } from '../support/authorization-server.ts'

const opaque = { format: 'opaque', lifetimeSec: 600, alg: 'ES256' } as const
const formats = [opaque, { ...opaque, format: 'jwt' as const }]

const issue = async ({ token }: TestServer): Promise<string> =>
  String((await token({ grant_type: 'client_credentials', scope: 'read' }, { as: 'app' })).body.access_token)

t.test('an access token of either format yields the client, the user and the scope', async t => {
  for (const accessToken of formats) {
    const server = await startServer(t, { accessToken })

    const record = await server.server.verifyAccessToken(await issue(server))

    t.match(record, { client_id: 'app', sub: 'app', scope: 'read', aud: server.deps.options.issuer })
  }
})

t.test('a known JWT is verified without waiting, and still expires', async t => {
  const server = await startServer(t)
  const token = await issue(server)
  await server.server.verifyAccessToken(token)

  t.match(server.server.verifyAccessToken(token), { client_id: 'app' })
  server.clock.advanceSec(599)
  t.match(server.server.verifyAccessToken(token), { client_id: 'app' })
  server.clock.advanceSec(1)
  t.equal(server.server.verifyAccessToken(token), undefined)
})

t.test('an opaque token is cached for a second at most, and never beyond its exp', async t => {
  const server = await startServer(t, { accessToken: { ...opaque, lifetimeSec: 10 } })
  const token = await issue(server)
  server.clock.advanceSec(9.5)
  t.ok(await server.server.verifyAccessToken(token))

  t.match(server.server.verifyAccessToken(token), { client_id: 'app' })
  server.clock.advanceSec(0.5)
  t.equal(await server.server.verifyAccessToken(token), undefined)
})

t.test('a revoked token is refused within a second', async t => {
  for (const accessToken of formats) {
    const server = await startServer(t, { accessToken })
    const [token, sister] = [await issue(server), await issue(server)]
    t.ok(await server.server.verifyAccessToken(token))

    const revokedAtMs = Date.now()
    await server.revoke({ token }, { as: 'app' })
    server.clock.advanceSec(1)
    while (Date.now() - revokedAtMs < 1000 && (await server.server.verifyAccessToken(token))) await sleep(10)

    t.ok(Date.now() - revokedAtMs < 1000, accessToken.format)
    t.ok(await server.server.verifyAccessToken(sister))
  }
})

t.test('a clock that is set back does not prolong the cache of an opaque token', async t => {
  const server = await startServer(t, { accessToken: opaque })
  const sister = await startServer(t, { accessToken: opaque }, server.clock, server.deps.store)
  const token = await issue(server)
  t.ok(await server.server.verifyAccessToken(token))

  server.clock.setBackSec(600)
  await sister.revoke({ token }, { as: 'app' })
  server.clock.advanceSec(1)

  t.equal(await server.server.verifyAccessToken(token), undefined)
})

t.test('a process refuses a token that it has revoked itself at once', async t => {
  for (const accessToken of formats) {
    const server = await startServer(t, { accessToken })
    const verify = (token: unknown) => server.server.verifyAccessToken(String(token))
    const redeem = async (code: string) =>
      (await server.token({ grant_type: 'authorization_code', code, code_verifier: verifier }, { as: 'app' })).body
    const single = await issue(server)
    const code = await server.makeCode('app')
    const [reused, ended] = [await redeem(code), await redeem(await server.makeCode('app'))]
    for (const token of [single, reused.access_token, ended.access_token]) t.ok(await verify(token))

    await server.revoke({ token: single }, { as: 'app' })
    t.equal(await verify(single), undefined, `${accessToken.format}: revoked by itself`)
    await redeem(code)
    t.equal(await verify(reused.access_token), undefined, `${accessToken.format}: its code was used twice`)
    await server.revoke({ token: String(ended.refresh_token) }, { as: 'app' })
    t.equal(await verify(ended.access_token), undefined, `${accessToken.format}: its grant was revoked`)
  }
})

t.test('a text that is not an access token of this server is refused', async t => {
  const server = await startServer(t)
  const foreign = await issue(await startServer(t))

  for (const token of ['', 'x', 'a.b.c', foreign, `${'A'.repeat(22)}.${'A'.repeat(43)}`, `${'a'.repeat(50_000)}`]) {
    t.equal(await server.server.verifyAccessToken(token), undefined, token.slice(0, 30))
  }
})

t.test('a process that has just started knows earlier revocations', async t => {
  const server = await startServer(t)
  const token = await issue(server)
  await server.revoke({ token }, { as: 'app' })

  const feedWatch = createFeedWatch(server.deps.store.feeds)
  t.teardown(() => feedWatch.close())
  const revocations = createRevocationFeed(server.deps.store, feedWatch, server.clock)
  const fresh = createAuthorizationServer({ ...server.deps, revocations })

  t.equal(await fresh.verifyAccessToken(token), undefined)
})
