import t from 'tap'
import { client, formRequest, startServer, type TestServer, verifier } from '../support/authorization-server.ts'

const refusal = { status: 400, body: { error: 'invalid_grant' } }
const asSpa = { client_id: 'spa' }
const refreshWith = (refresh_token: unknown, more: Readonly<Record<string, string>> = {}) => ({
  grant_type: 'refresh_token',
  refresh_token: String(refresh_token),
  ...more,
})

/** The first access and refresh token that a code of this client yields. */
const firstTokens = async ({ token, makeCode }: TestServer, client_id: string) => {
  const code = await makeCode(client_id)
  const named = client_id === 'spa' ? { sent: {}, more: asSpa } : { sent: { as: client_id }, more: {} }
  const redemption = { grant_type: 'authorization_code', code, code_verifier: verifier, ...named.more }
  return (await token(redemption, named.sent)).body
}

t.test(
  'a refresh token is refused from another client, and stays valid (RFC 6749 section 6; checklist 79)',
  async t => {
    const server = await startServer(t)
    const { refresh_token } = await firstTokens(server, 'app')

    t.match(await server.token(refreshWith(refresh_token), { as: 'other' }), refusal)
    t.match(await server.token(refreshWith(refresh_token, asSpa), {}), refusal)
    t.match(await server.token(refreshWith(refresh_token), { as: 'app' }), { status: 200 })
  },
)

t.test(
  'a wider scope is refused, a narrower one narrows only the access token (RFC 6749 section 6; checklist 80)',
  async t => {
    const server = await startServer(t)
    const { refresh_token } = await firstTokens(server, 'app')
    const refresh = (more = {}) => server.token(refreshWith(refresh_token, more), { as: 'app' })

    const wider = await refresh({ scope: 'read write offline_access' })

    t.match(wider, { status: 400, body: { error: 'invalid_scope' } })
    t.match(await refresh({ scope: 'nothing' }), { body: { error: 'invalid_scope' } })
    t.match(await refresh({ scope: 'read' }), { status: 200, body: { scope: 'read' } })
    t.match(await refresh(), { status: 200, body: { scope: 'read write' } })
  },
)

t.test('a refused scope does not spend the token of a public client (RFC 6749 section 6; checklist 80)', async t => {
  const server = await startServer(t)
  const { refresh_token } = await firstTokens(server, 'spa')
  const wider = refreshWith(refresh_token, { ...asSpa, scope: 'read write offline_access' })

  t.match(await server.token(wider, {}), { status: 400, body: { error: 'invalid_scope' } })
  server.clock.advanceSec(60)

  t.match(await server.token(refreshWith(refresh_token, asSpa), {}), { status: 200, body: { scope: 'read write' } })
})

t.test(
  'a public client gets a new token every time, and reuse revokes the family (RFC 9700 section 4.14.2; checklist 81)',
  async t => {
    const server = await startServer(t)
    const first = await firstTokens(server, 'spa')
    const second = (await server.token(refreshWith(first.refresh_token, asSpa), {})).body
    server.clock.advanceSec(11)
    const third = (await server.token(refreshWith(second.refresh_token, asSpa), {})).body
    t.equal(new Set([first, second, third].map(body => body.refresh_token)).size, 3)
    t.ok(await server.server.verifyAccessToken(String(third.access_token)))
    server.clock.advanceSec(11)

    t.match(await server.token(refreshWith(first.refresh_token, asSpa), {}), refusal, 'an ancestor two steps back')

    t.match(await server.token(refreshWith(third.refresh_token, asSpa), {}), refusal)
    const { deps } = server
    for (const { access_token } of [first, second, third]) {
      const { jti } = JSON.parse(Buffer.from(String(access_token).split('.')[1] ?? '', 'base64url').toString())
      t.equal(await deps.store.revocations.isRevoked(jti), true)
    }
  },
)

t.test('a guessed refresh token revokes nothing (RFC 9700 section 4.14.2; checklist 81)', async t => {
  const server = await startServer(t)
  const first = await firstTokens(server, 'spa')
  const second = (await server.token(refreshWith(first.refresh_token, asSpa), {})).body
  server.clock.advanceSec(11)
  const [grantId] = String(first.refresh_token).split('.')

  t.match(await server.token(refreshWith(`${grantId}.${'A'.repeat(43)}`, asSpa), {}), refusal)

  t.match(await server.token(refreshWith(second.refresh_token, asSpa), {}), { status: 200 })
})

t.test('20 parallel refreshes with one token yield one lineage (RFC 9700 section 4.14.2; checklist 82)', async t => {
  const server = await startServer(t)
  const { refresh_token } = await firstTokens(server, 'spa')

  const refresh = refreshWith(refresh_token, asSpa)
  const replies = await Promise.all(Array.from({ length: 20 }, () => server.token(refresh, {})))

  t.ok(replies.every(({ status }) => status === 200))
  const successors = new Set(replies.map(({ body }) => body.refresh_token))
  t.equal(successors.size, 1)
  t.match(await server.token(refreshWith([...successors][0], asSpa), {}), { status: 200 })
})

t.test('a confidential client keeps its refresh token (RFC 9700 section 2.2.2; checklist 83)', async t => {
  const server = await startServer(t)
  const { refresh_token } = await firstTokens(server, 'app')

  for (let i = 0; i < 3; i++) {
    const reply = await server.token(refreshWith(refresh_token), { as: 'app' })
    t.match(reply, { status: 200, body: { scope: 'read write' } })
    t.notOk('refresh_token' in reply.body)
    server.clock.advanceSec(3600)
  }
})

t.test('a refresh token expires: absolutely if it is kept, from its last use if it is rotated', async t => {
  const refreshToken = { lifetimeSec: 1000, reuseWindowSec: 10 }
  const server = await startServer(t, { refreshToken })
  const kept = await firstTokens(server, 'app')
  const replaced = await firstTokens(server, 'spa')
  server.clock.advanceSec(600)
  const { body } = await server.token(refreshWith(replaced.refresh_token, asSpa), {})
  server.clock.advanceSec(600)

  t.match(await server.token(refreshWith(kept.refresh_token), { as: 'app' }), refusal)
  t.match(await server.token(refreshWith(body.refresh_token, asSpa), {}), { status: 200 })
})

t.test('a scope that the client has lost is not granted again', async t => {
  const server = await startServer(t)
  const { refresh_token } = await firstTokens(server, 'app')
  const request = formRequest(refreshWith(refresh_token))
  const form = server.server.parseForm(request)

  const reply = await server.server.token(
    form,
    { client: client('app', { scope: ['read'] }), pendingReplayChecks: [] },
    request,
  )

  t.match(reply, { status: 200, body: { scope: 'read' } })
})

t.test('a user that was removed from the configuration gets no further tokens', async t => {
  const before = await startServer(t)
  const kept = await firstTokens(before, 'app')
  const replaced = await firstTokens(before, 'spa')

  const after = await startServer(t, { users: [] }, before.clock, before.deps.store)

  t.match(await after.token(refreshWith(kept.refresh_token), { as: 'app' }), refusal)
  t.match(await after.token(refreshWith(replaced.refresh_token, asSpa), {}), refusal)
})

t.test('a missing refresh token is an invalid_request, an impossible one an invalid_grant', async t => {
  const { token } = await startServer(t)

  t.match(await token({ grant_type: 'refresh_token' }, { as: 'app' }), { body: { error: 'invalid_request' } })
  for (const text of ['x', 'a.b', 'a.b.c']) t.match(await token(refreshWith(text), { as: 'app' }), refusal, text)
})
