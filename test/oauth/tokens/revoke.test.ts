import t from 'tap'
import { startServer, type TestServer, verifier } from '../support/authorization-server.ts'

const opaque = { format: 'opaque', lifetimeSec: 600, alg: 'ES256' } as const
const formats = [opaque, { ...opaque, format: 'jwt' as const }]

const personTokens = async ({ token, makeCode }: TestServer, as: string) => {
  const code = await makeCode(as)
  const { body } = await token({ grant_type: 'authorization_code', code, code_verifier: verifier }, { as })
  return { access: String(body.access_token), refresh: String(body.refresh_token) }
}

const isActive = async ({ introspect }: TestServer, token: string, as = 'app'): Promise<unknown> =>
  (await introspect({ token }, { as })).body.active

t.test('line 76: good, unknown and already revoked tokens are all 200, whatever the hint', async t => {
  for (const accessToken of formats) {
    const server = await startServer(t, { accessToken })
    const { access } = await personTokens(server, 'app')

    for (const token_type_hint of ['access_token', 'refresh_token', 'magic']) {
      const answer = await server.revoke({ token: access, token_type_hint }, { as: 'app' })
      t.match(answer, { status: 200, headers: { 'cache-control': 'no-store' } }, token_type_hint)
      t.equal(await isActive(server, access), false)
    }
    for (const token of ['x', 'a.b.c', `${'A'.repeat(22)}.${'A'.repeat(43)}`]) {
      t.match(await server.revoke({ token }, { as: 'app' }), { status: 200 }, token)
    }
    t.match(await server.revoke({}, { as: 'app' }), { status: 400, body: { error: 'invalid_request' } })
  }
})

t.test("line 76: another client's token is refused and stays active", async t => {
  for (const accessToken of formats) {
    const server = await startServer(t, { accessToken })
    const { access, refresh } = await personTokens(server, 'app')
    const refusal = { status: 400, body: { error: 'invalid_grant' } }

    t.match(await server.revoke({ token: access }, { as: 'other' }), refusal)
    t.match(await server.revoke({ token: refresh }, { as: 'other' }), refusal)

    t.equal(await isActive(server, access), true)
    t.equal(await isActive(server, refresh), true)
  }
})

t.test('line 77: revoking a refresh token ends all access tokens of its grant', async t => {
  for (const accessToken of formats) {
    const server = await startServer(t, { accessToken })
    const { access, refresh } = await personTokens(server, 'app')
    const bystander = await personTokens(server, 'app')
    const again = await server.token({ grant_type: 'refresh_token', refresh_token: refresh }, { as: 'app' })

    await server.revoke({ token: refresh }, { as: 'app' })

    for (const token of [access, String(again.body.access_token), refresh])
      t.equal(await isActive(server, token), false)
    const refreshed = await server.token({ grant_type: 'refresh_token', refresh_token: refresh }, { as: 'app' })
    t.match(refreshed, { status: 400, body: { error: 'invalid_grant' } })
    t.equal(await isActive(server, bystander.access), true)
  }
})

t.test('line 77: revoking an access token leaves its grant', async t => {
  for (const accessToken of formats) {
    const server = await startServer(t, { accessToken })
    const { access, refresh } = await personTokens(server, 'app')
    const sister = await server.token({ grant_type: 'refresh_token', refresh_token: refresh }, { as: 'app' })

    await server.revoke({ token: access }, { as: 'app' })

    t.equal(await isActive(server, access), false)
    t.equal(await isActive(server, String(sister.body.access_token)), true)
    t.equal(await isActive(server, refresh), true)
  }
})

t.test('a public client revokes by its client_id', async t => {
  const server = await startServer(t)
  const code = await server.makeCode('spa')
  const redemption = { grant_type: 'authorization_code', code, code_verifier: verifier, client_id: 'spa' }
  const { body } = await server.token(redemption, {})

  t.match(await server.revoke({ token: String(body.refresh_token), client_id: 'spa' }, {}), { status: 200 })

  const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token), client_id: 'spa' }
  t.match(await server.token(refresh, {}), { status: 400, body: { error: 'invalid_grant' } })
})
