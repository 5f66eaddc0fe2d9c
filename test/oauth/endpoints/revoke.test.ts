import t from 'tap'
import { client, publicClient, startServer, type TestServer, verifier } from '../support/authorization-server.ts'
import { newKeyHolder } from '../support/holder.ts'

const opaque = { format: 'opaque', lifetimeSec: 600, alg: 'ES256' } as const
const formats = [opaque, { ...opaque, format: 'jwt' as const }]

const personTokens = async ({ token, makeCode }: TestServer, as: string) => {
  const code = await makeCode(as)
  const { body } = await token({ grant_type: 'authorization_code', code, code_verifier: verifier }, { as })
  return { access: String(body.access_token), refresh: String(body.refresh_token) }
}

const isActive = async ({ introspect }: TestServer, token: string, as = 'app'): Promise<unknown> =>
  (await introspect({ token }, { as })).body.active

t.test(
  'valid, unknown and already revoked tokens get 200, whatever the hint (RFC 7009 section 2.1; checklist 76)',
  async t => {
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
  },
)

t.test("another client's token is refused and stays active (RFC 7009 section 2.1; checklist 76)", async t => {
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

t.test(
  'the revocation of a refresh token revokes all access tokens of its grant (RFC 7009 section 2.1; checklist 77)',
  async t => {
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
  },
)

t.test('the revocation of an access token leaves its grant (RFC 7009 section 2.1; checklist 77)', async t => {
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

t.test('a public client revokes its tokens with its client_id', async t => {
  const server = await startServer(t)
  const code = await server.makeCode('spa')
  const redemption = { grant_type: 'authorization_code', code, code_verifier: verifier, client_id: 'spa' }
  const { body } = await server.token(redemption, {})

  t.match(await server.revoke({ token: String(body.refresh_token), client_id: 'spa' }, {}), { status: 200 })

  const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token), client_id: 'spa' }
  t.match(await server.token(refresh, {}), { status: 400, body: { error: 'invalid_grant' } })
})

t.test('the revocation of a replaced refresh token revokes its grant (RFC 7009 section 2.1; checklist 77)', async t => {
  const clients = [publicClient('spa'), client('all', { introspects: 'all' })]
  for (const rotations of [1, 2, 5]) {
    const server = await startServer(t, { clients })
    const spa = { client_id: 'spa' }
    const code = await server.makeCode('spa')
    const first = await server.token({ grant_type: 'authorization_code', code, code_verifier: verifier, ...spa }, {})
    const refresh = async (refresh_token: unknown) =>
      (await server.token({ grant_type: 'refresh_token', refresh_token: String(refresh_token), ...spa }, {})).body
    let last = first.body
    for (let round = 0; round < rotations; round++) last = await refresh(last.refresh_token)

    const revoked = await server.revoke({ token: String(first.body.refresh_token), ...spa }, {})

    t.match(revoked, { status: 200 })
    t.match(await refresh(last.refresh_token), { error: 'invalid_grant' }, `after ${rotations}`)
    for (const { access_token } of [first.body, last]) {
      t.equal(await isActive(server, String(access_token), 'all'), false)
    }
  }
})

t.test(
  'the revocation of a bound refresh token needs neither its key nor its certificate (RFC 7009 section 2.1; checklist 77)',
  async t => {
    const spa = { client_id: 'spa' }
    const server = await startServer(t, { clients: [publicClient('spa')], dpop: { nonce: 'optional' } })
    const owner = await newKeyHolder()
    const ask = async (fields: Readonly<Record<string, string>>) =>
      (await server.token({ ...fields, ...spa }, { request: owner.prove(server.clock) })).body
    const code = await server.makeCode('spa')
    const first = await ask({ grant_type: 'authorization_code', code, code_verifier: verifier })
    const second = await ask({ grant_type: 'refresh_token', refresh_token: String(first.refresh_token) })

    t.match(await server.revoke({ token: String(first.refresh_token), ...spa }, {}), { status: 200 })

    const refused = await ask({ grant_type: 'refresh_token', refresh_token: String(second.refresh_token) })
    t.match(refused, { error: 'invalid_grant' })
  },
)

t.test('a guessed refresh token revokes nothing, though its grant exists', async t => {
  const server = await startServer(t)
  const spa = { client_id: 'spa' }
  const code = await server.makeCode('spa')
  const { body } = await server.token({ grant_type: 'authorization_code', code, code_verifier: verifier, ...spa }, {})
  const replaced = String(body.refresh_token)
  const refresh = (refresh_token: string) => server.token({ grant_type: 'refresh_token', refresh_token, ...spa }, {})
  const current = String((await refresh(replaced)).body.refresh_token)
  const guess = `${current.slice(0, -1)}${current.endsWith('A') ? 'E' : 'A'}`

  t.match(await server.revoke({ token: guess, ...spa }, {}), { status: 200 })
  t.match(await server.revoke({ token: replaced }, { as: 'app' }), { status: 200 }, 'another client revokes nothing')

  t.match(await refresh(current), { status: 200 })
})
