import t from 'tap'
import { client, startServer, type TestServer, verifier } from '../support/authorization-server.ts'

const refusal = { status: 400, body: { error: 'invalid_grant' } }
const redeem = (code: string, more: Readonly<Record<string, string>> = {}) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier: verifier,
  ...more,
})
const isActive = async ({ introspect }: TestServer, token: unknown, as = 'app'): Promise<unknown> =>
  (await introspect({ token: String(token) }, { as })).body.active

t.test(
  'a code yields an access token for the user, and a refresh token if the client is registered for it',
  async t => {
    const clients = [client('app'), client('brief', { grant_types: ['authorization_code'] })]
    const { token, makeCode } = await startServer(t, { clients })

    const reply = await token(redeem(await makeCode('app')), { as: 'app' })
    const brief = await token(redeem(await makeCode('brief')), { as: 'brief' })

    t.match(reply, {
      status: 200,
      body: { token_type: 'Bearer', scope: 'read write', refresh_token: /^[\w-]{22}\.[\w-]{43}$/ },
    })
    t.match(brief, { status: 200 })
    t.notOk('refresh_token' in brief.body)
  },
)

for (const format of ['jwt', 'opaque'] as const) {
  t.test(
    `a second redemption is refused and revokes the tokens of the first one (${format}) (RFC 6749 section 4.1.2; checklist 26)`,
    async t => {
      const server = await startServer(t, { accessToken: { format, lifetimeSec: 600, alg: 'ES256' } })
      const code = await server.makeCode('app')
      const { body } = await server.token(redeem(code), { as: 'app' })
      t.equal(await isActive(server, body.access_token), true)

      t.match(await server.token(redeem(code), { as: 'app' }), refusal)

      t.equal(await isActive(server, body.access_token), false)
      t.equal(await isActive(server, body.refresh_token), false)
      const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }
      t.match(await server.token(refresh, { as: 'app' }), refusal)
    },
  )
}

t.test(
  'of 50 parallel redemptions exactly one succeeds, and its tokens are revoked (RFC 6749 section 4.1.2; checklist 27)',
  async t => {
    const server = await startServer(t)
    const code = await server.makeCode('app')

    const replies = await Promise.all(Array.from({ length: 50 }, () => server.token(redeem(code), { as: 'app' })))

    const won = replies.filter(({ status }) => status === 200)
    t.equal(won.length, 1)
    t.ok(replies.every(({ status }) => status === 200 || status === 400))
    t.equal(await isActive(server, won[0]?.body.access_token), false)
  },
)

t.test(
  'a code is valid for its lifetime, and a replay after that is still detected (RFC 6749 section 4.1.2; checklist 28)',
  async t => {
    const server = await startServer(t)
    const [late, used] = [await server.makeCode('app'), await server.makeCode('app')]
    server.clock.advanceSec(59)
    const { body } = await server.token(redeem(used), { as: 'app' })
    t.equal(await isActive(server, body.access_token), true)
    server.clock.advanceSec(1)

    t.match(await server.token(redeem(late), { as: 'app' }), refusal)
    t.match(await server.token(redeem(used), { as: 'app' }), refusal)

    t.equal(await isActive(server, body.access_token), false)
  },
)

t.test(
  'another client learns nothing from its attempts, and only the third one spends the code (RFC 6749 section 4.1.3; checklist 29)',
  async t => {
    const { token, makeCode } = await startServer(t)
    const [code, burnt] = [await makeCode('app'), await makeCode('app')]
    const unknown = await token(redeem(code.slice(0, -3).concat('AAA')), { as: 'other' })

    for (let i = 0; i < 2; i++) t.same(await token(redeem(code), { as: 'other' }), unknown)
    for (let i = 0; i < 3; i++) t.same(await token(redeem(burnt), { as: 'other' }), unknown)

    t.match(await token(redeem(code), { as: 'app' }), { status: 200 })
    t.match(await token(redeem(burnt), { as: 'app' }), refusal)
  },
)

t.test(
  'the redirect_uri must be the one of the authorization request (RFC 6749 section 4.1.3; checklist 30)',
  async t => {
    const { token, makeCode } = await startServer(t)
    const redirect_uri = 'https://app.example/callback'
    const attempt = async (parameters: Readonly<Record<string, string>>) =>
      token(redeem(await makeCode('app', { redirect_uri }), parameters), { as: 'app' })

    t.match(await attempt({ redirect_uri }), { status: 200 })
    t.match(await attempt({}), refusal, 'missing')
    t.match(await attempt({ redirect_uri: `${redirect_uri}/` }), refusal)
    t.match(await attempt({ redirect_uri: 'https://app.example/Callback' }), refusal)
  },
)

t.test(
  'if the request had no redirect_uri, none or the only registered one is accepted (RFC 6749 section 4.1.3; checklist 30)',
  async t => {
    const several = client('several', { redirect_uris: ['https://several.example/a', 'https://several.example/b'] })
    const { token, makeCode } = await startServer(t, { clients: [client('app'), several] })
    const attempt = async (client_id: string, more: Readonly<Record<string, string>>) =>
      token(redeem(await makeCode(client_id), more), { as: client_id })

    t.match(await attempt('app', {}), { status: 200 })
    t.match(await attempt('app', { redirect_uri: 'https://app.example/callback' }), { status: 200 })
    t.match(await attempt('app', { redirect_uri: 'https://app.example/other' }), refusal)
    t.match(await attempt('several', { redirect_uri: 'https://several.example/a' }), refusal)
  },
)

t.test(
  'the verifier of RFC 7636 appendix B is accepted, one flipped character is not (RFC 7636 section 4.6; checklist 33)',
  async t => {
    const { token, makeCode } = await startServer(t)
    const flipped = verifier.replace(/k$/, 'l')

    t.match(await token(redeem(await makeCode('app'), { code_verifier: flipped }), { as: 'app' }), refusal)
    t.match(await token(redeem(await makeCode('app'), { code_verifier: '' }), { as: 'app' }), refusal, 'missing')
    t.match(await token(redeem(await makeCode('app')), { as: 'app' }), { status: 200 })
  },
)

t.test('a verifier for a request that had no challenge is refused (RFC 9700 section 4.8.2; checklist 36)', async t => {
  const { token, makeCode } = await startServer(t)
  const withoutPkce = { verifier: '' }

  t.match(await token(redeem(await makeCode('app', withoutPkce)), { as: 'app' }), refusal)
  const plain = { grant_type: 'authorization_code', code: await makeCode('app', withoutPkce) }
  t.match(await token(plain, { as: 'app' }), { status: 200 })
})

t.test('a verifier of the wrong length or alphabet is refused (RFC 7636 section 4.1; checklist 37)', async t => {
  const { token, makeCode } = await startServer(t)

  for (const bad of ['a'.repeat(42), 'a'.repeat(129), `${'a'.repeat(43)}!`, 'é'.repeat(50), ' '.repeat(50)]) {
    const code = await makeCode('app', { verifier: bad })
    t.match(await token(redeem(code, { code_verifier: bad }), { as: 'app' }), refusal, bad)
  }
  for (const good of ['a'.repeat(43), '-._~'.repeat(32)]) {
    const code = await makeCode('app', { verifier: good })
    t.match(await token(redeem(code, { code_verifier: good }), { as: 'app' }), { status: 200 }, good)
  }
})

t.test('a missing code is an invalid_request, an impossible one an invalid_grant', async t => {
  const { token } = await startServer(t)

  t.match(await token({ grant_type: 'authorization_code' }, { as: 'app' }), { body: { error: 'invalid_request' } })
  for (const code of ['x', 'a.b', 'a.b.c', '💥']) t.match(await token(redeem(code), { as: 'app' }), refusal, code)
})
