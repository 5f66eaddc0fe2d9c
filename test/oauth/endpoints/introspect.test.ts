import t from 'tap'
import { newGrantId } from '../../../src/oauth/opaque-token.ts'
import { createAccessTokens } from '../../../src/oauth/tokens/access-token.ts'
import { signJwt } from '../../../src/oauth/tokens/jwt.ts'
import { basic, client, issuer, startServer, type TestServer, verifier } from '../support/authorization-server.ts'

const inactive = { status: 200, headers: { 'cache-control': 'no-store' }, body: { active: false } }
const opaque = { format: 'opaque', lifetimeSec: 600, alg: 'ES256' } as const

const ownToken = async ({ token }: TestServer, as: string, more = {}): Promise<string> =>
  String((await token({ grant_type: 'client_credentials', ...more }, { as })).body.access_token)

const personTokens = async ({ token, makeCode }: TestServer, as: string) => {
  const code = await makeCode(as)
  return (await token({ grant_type: 'authorization_code', code, code_verifier: verifier }, { as })).body
}

t.test(
  'missing or wrong credentials get 401 and no fact about the token (RFC 7662 section 2.1; checklist 67)',
  async t => {
    const server = await startServer(t)
    const token = await ownToken(server, 'app')

    for (const authorization of [[], ['Basic x'], [basic('app', 'wrong')], [basic('nobody', 'app-secret')]]) {
      const answer = await server.introspect({ token }, { request: { authorization } })
      t.match(answer, { status: 401, headers: { 'www-authenticate': /^Basic / }, body: { error: 'invalid_client' } })
      t.notOk('active' in answer.body)
    }
    const asPublic = await server.introspect({ token, client_id: 'spa' }, {})
    t.match(
      asPublic,
      { status: 401, headers: { 'www-authenticate': /^Basic / } },
      'a public client cannot introspect (RFC 6749 section 3.2.1; checklist 21)',
    )
  },
)

t.test('every invalid token gets exactly {"active":false} (RFC 7662 section 2.2; checklist 68)', async t => {
  const server = await startServer(t)
  const stranger = await startServer(t)
  const good = await ownToken(server, 'app')
  const foreign = await ownToken(stranger, 'app')
  const [header, payload, signature] = good.split('.')
  const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')
  const bad = [
    'x',
    ' ',
    '.',
    '..',
    'a.b.c',
    '💥',
    foreign,
    `${header}.${payload}.`,
    `${none}.${payload}.`,
    `${header}.${payload}.${signature?.slice(0, -1)}${signature?.endsWith('A') ? 'Q' : 'A'}`,
    `${good}.x`,
    `${'A'.repeat(22)}.${'A'.repeat(43)}`,
    'a'.repeat(60_000),
    `${'a'.repeat(30_000)}.${'b'.repeat(20_000)}.${'c'.repeat(86)}`,
  ]

  for (const token of bad) t.same(await server.introspect({ token }, { as: 'app' }), inactive, token.slice(0, 30))
  t.match(await server.introspect({ token: good }, { as: 'app' }), { body: { active: true } })
})

t.test('a token is active until its exp and inactive at its exp (RFC 7662 section 2.2; checklist 68)', async t => {
  for (const accessToken of [opaque, { ...opaque, format: 'jwt' as const }]) {
    const server = await startServer(t, { accessToken })
    const token = await ownToken(server, 'app')
    server.clock.advanceSec(599)
    t.match(await server.introspect({ token }, { as: 'app' }), { body: { active: true } })
    server.clock.advanceSec(1)

    t.same(await server.introspect({ token }, { as: 'app' }), inactive, accessToken.format)
  }
})

t.test(
  'a caller that is not entitled gets the same response as for an unknown token (RFC 7662 section 2.2; checklist 69)',
  async t => {
    const reader = client('reader', { introspects: ['https://api.example'] })
    const clients = [client('app'), client('other'), client('server', { introspects: 'all' }), reader]
    for (const accessToken of [opaque, { ...opaque, format: 'jwt' as const }]) {
      const server = await startServer(t, { clients, accessToken })
      const [plain, aimed] = [
        await ownToken(server, 'app'),
        await ownToken(server, 'app', { resource: 'https://api.example' }),
      ]
      const ask = (token: string, as: string) => server.introspect({ token }, { as })

      t.same(await ask(plain, 'other'), inactive)
      t.same(await ask(plain, 'reader'), inactive)
      t.match(await ask(aimed, 'reader'), { body: { active: true, aud: 'https://api.example' } })
      t.match(await ask(plain, 'server'), { body: { active: true } })
      t.match(await ask(plain, 'app'), { body: { active: true } })
    }
  },
)

t.test('the tokens of a client that was removed from the configuration are inactive', async t => {
  for (const accessToken of [{ ...opaque, format: 'jwt' as const }, opaque]) {
    const clients = [client('app'), client('all', { introspects: 'all' })]
    const before = await startServer(t, { clients, accessToken })
    const token = await ownToken(before, 'app')
    t.match(await before.introspect({ token }, { as: 'all' }), { body: { active: true } })

    const after = await startServer(t, { clients: clients.slice(1), accessToken }, before.clock, before.deps.store)

    t.same((await after.introspect({ token }, { as: 'all' })).body, inactive.body, accessToken.format)
  }
})

t.test('a right, wrong or unknown hint changes no response (RFC 7662 section 2.1; checklist 70)', async t => {
  for (const accessToken of [opaque, { ...opaque, format: 'jwt' as const }]) {
    const server = await startServer(t, { accessToken })
    const { access_token, refresh_token } = await personTokens(server, 'app')
    for (const token of [String(access_token), String(refresh_token), 'nothing']) {
      const plain = await server.introspect({ token }, { as: 'app' })
      for (const token_type_hint of ['access_token', 'refresh_token', 'magic']) {
        t.same(await server.introspect({ token, token_type_hint }, { as: 'app' }), plain, token_type_hint)
      }
    }
  }
})

t.test('a request without a token is an invalid_request (RFC 7662 section 2.3; checklist 71)', async t => {
  const { introspect } = await startServer(t)

  t.match(await introspect({}, { as: 'app' }), { status: 400, body: { error: 'invalid_request' } })
  t.match(await introspect({ token: '' }, { as: 'app' }), { status: 400, body: { error: 'invalid_request' } })
})

t.test(
  'a JWT and an opaque token give the same members with the right types (RFC 7662 section 2.2, RFC 7662 section 4; checklist 72, 73)',
  async t => {
    const answers = []
    for (const accessToken of [opaque, { ...opaque, format: 'jwt' as const }]) {
      const server = await startServer(t, { accessToken })
      const { access_token } = await personTokens(server, 'app')
      const { body } = await server.introspect({ token: String(access_token) }, { as: 'app' })
      const iat = server.clock.nowMs() / 1000
      t.match(body, {
        active: true,
        iss: issuer,
        client_id: 'app',
        sub: /^sub-/,
        username: 'alice',
        scope: 'read write',
        aud: issuer,
        token_type: 'Bearer',
        iat,
        nbf: iat,
        exp: iat + 600,
        jti: /^[\w-]{22}\.[\w-]+$/,
      })
      answers.push(body)
    }

    const [first, second] = answers.map(body => Object.keys(body))
    t.same(first, second)
  },
)

t.test(
  'the binding of a token and the authentication of its user are shown for both formats (RFC 7662 section 2.2; checklist 72)',
  async t => {
    const cases = [
      { cnf: { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' }, token_type: 'DPoP' },
      { cnf: { 'x5t#S256': 'A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0' }, token_type: 'Bearer' },
    ]
    for (const accessToken of [opaque, { ...opaque, format: 'jwt' as const }]) {
      const server = await startServer(t, { accessToken })
      const accessTokens = createAccessTokens(server.deps)
      for (const { cnf, token_type } of cases) {
        const grantId = newGrantId()
        const iat = server.clock.nowMs() / 1000
        const told = { cnf, acr: 'urn:example:strong', auth_time: iat - 60 }
        const base = { jti: grantId, client_id: 'app', sub: 'alice', scope: 'read', aud: issuer, iat, exp: iat + 600 }
        const record = { ...base, ...told }
        const { digest, toText } = accessTokens.begin(grantId)
        if (digest !== undefined) await server.deps.store.tokens.save(grantId, digest, record, record.exp * 1000)
        const token = toText(record)

        const { body } = await server.introspect({ token }, { as: 'app' })

        t.match(body, { active: true, token_type, ...told }, accessToken.format)
        t.match(await server.server.verifyAccessToken(token), told, 'the gateway knows the binding too')
      }
    }
  },
)

t.test(
  'a refresh token is active only for its own client, even if the caller may introspect all tokens (RFC 7662 section 2.2; checklist 72)',
  async t => {
    const server = await startServer(t, { clients: [client('app'), client('server', { introspects: 'all' })] })
    const { refresh_token } = await personTokens(server, 'app')
    const token = String(refresh_token)
    const iat = server.clock.nowMs() / 1000

    const { body } = await server.introspect({ token }, { as: 'app' })

    t.match(body, { active: true, client_id: 'app', scope: 'read write', iat, exp: iat + 30 * 24 * 3600 })
    t.notOk('token_type' in body)
    t.same(await server.introspect({ token }, { as: 'server' }), inactive)
  },
)

t.test('a revoked JWT is inactive though its signature is valid (RFC 7662 section 4; checklist 73)', async t => {
  const server = await startServer(t)
  const token = await ownToken(server, 'app')
  await server.revoke({ token }, { as: 'app' })

  t.same(await server.introspect({ token }, { as: 'app' }), inactive)
})

t.test(
  'a JWT of another type or issuer, or with an unknown header, is not an access token (RFC 9068 section 4; checklist 88)',
  async t => {
    const server = await startServer(t)
    const { keys } = server.deps
    const key = keys.current('ES256')
    const good = await ownToken(server, 'app')
    const claims = JSON.parse(Buffer.from(good.split('.')[1] ?? '', 'base64url').toString())
    // Signed with the right key, so that the one difference is the only reason.
    const resign = (header: object, changed: object = {}): string => {
      const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
      const text = `${part(header)}.${part({ ...claims, ...changed })}`
      return `${text}.${key.sign(text).toString('base64url')}`
    }
    const header = { alg: 'ES256', typ: 'at+jwt', kid: key.kid }
    const isActive = async (token: string) => (await server.introspect({ token }, { as: 'app' })).body.active

    t.equal(await isActive(resign(header)), true)
    t.equal(await isActive(signJwt(key, 'at+jwt', claims)), true)
    t.equal(await isActive(resign({ ...header, typ: 'JWT' })), false)
    t.equal(await isActive(resign({ ...header, typ: 'token-introspection+jwt' })), false)
    t.equal(await isActive(resign({ ...header, crit: ['exp'] })), false)
    t.equal(await isActive(resign({ ...header, kid: 'unknown' })), false)
    t.equal(await isActive(resign({ ...header, alg: 'none' })), false)
    t.equal(await isActive(resign({ ...header, alg: 'HS256' })), false)
    t.equal(await isActive(resign(header, { iss: 'https://auth.example/' })), false)
    t.equal(await isActive(resign(header, { exp: String(claims.exp) })), false)
    t.equal(await isActive(resign(header, { jti: undefined })), false)
    t.equal(await isActive(resign(header, { cnf: { jkt: 'x' } })), true)
    t.equal(await isActive(resign(header, { cnf: { jkt: 1 } })), false, 'a binding that cannot be read')
  },
)
