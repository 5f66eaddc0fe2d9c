import { verify } from 'node:crypto'
import t from 'tap'
import { grantTypes } from '../../../src/oauth/protocol.ts'
import { client, issuer, publicClient, startServer } from '../support/authorization-server.ts'

const grant = { grant_type: 'client_credentials' }
const decode = (part = ''): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString())

t.test(
  'a successful response is JSON with no-store, a numeric lifetime and the scope (RFC 6749 section 5.1; checklist 6)',
  async t => {
    const { token } = await startServer(t)

    const reply = await token({ ...grant, scope: ' write  read write' }, { as: 'app' })

    t.match(reply, {
      status: 200,
      headers: { 'cache-control': 'no-store', pragma: 'no-cache' },
      body: { token_type: 'Bearer', expires_in: 600, scope: 'write read' },
    })
    t.type(reply.body.access_token, 'string')
  },
)

t.test(
  'without a scope parameter the token has the whole registered scope (RFC 6749 section 5.1; checklist 6)',
  async t => {
    const { token } = await startServer(t)

    t.match(await token(grant, { as: 'app' }), { body: { scope: 'read write offline_access' } })
  },
)

t.test('a scope that is unknown, malformed, in another case or not registered is an invalid_scope', async t => {
  const clients = [client('app', { scope: ['read'] }), client('other', { scope: ['write'] })]
  const { token } = await startServer(t, { clients })
  const refusal = { status: 400, body: { error: 'invalid_scope' } }

  for (const scope of ['write', 'read nothing', 'READ', ' ', 're"ad', 'é', 'read\nwrite', 're\\ad']) {
    t.match(await token({ ...grant, scope }, { as: 'app' }), refusal, scope)
  }
  t.match(await token({ ...grant, scope: 'read' }, { as: 'app' }), { status: 200 })
})

t.test('a client without scopes gets a token without scope, and a response without scope', async t => {
  const { token, introspect } = await startServer(t, { clients: [client('app', { scope: [] })] })

  const { body } = await token(grant, { as: 'app' })

  t.notOk('scope' in body)
  const answer = await introspect({ token: String(body.access_token) }, { as: 'app' })
  t.match(answer, { body: { active: true } })
  t.notOk('scope' in answer.body)
})

t.test(
  'an error_description never repeats input and has only the allowed characters (RFC 6749 section 5.2; checklist 8)',
  async t => {
    const { token } = await startServer(t)

    for (const value of ['"quoted"', 'a\r\nSet-Cookie: b', '💥', 'back\\slash', '<script>']) {
      for (const name of ['grant_type', 'scope', 'code', 'refresh_token', 'resource']) {
        const grant_type =
          name === 'code' ? 'authorization_code' : name === 'refresh_token' ? name : 'client_credentials'
        const { status, body } = await token({ grant_type, [name]: value }, { as: 'app' })
        t.equal(status, 400, `${name}=${value}`)
        t.match(body.error_description, /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/)
        t.notMatch(body.error_description, value)
      }
    }
  },
)

t.test(
  'missing, unknown and unregistered grant types are three different errors (RFC 6749 section 5.2; checklist 9)',
  async t => {
    const clients = [client('app', { grant_types: ['authorization_code'] })]
    const { token } = await startServer(t, { clients })

    t.match(await token({}, { as: 'app' }), { status: 400, body: { error: 'invalid_request' } })
    t.match(await token({ grant_type: 'magic' }, { as: 'app' }), {
      status: 400,
      body: { error: 'unsupported_grant_type' },
    })
    t.match(await token(grant, { as: 'app' }), { status: 400, body: { error: 'unauthorized_client' } })
  },
)

t.test('the password grant is not supported (RFC 9700 section 2.4; checklist 10)', async t => {
  const { token } = await startServer(t)
  const reply = await token({ grant_type: 'password', username: 'alice', password: 'x' }, { as: 'app' })

  t.match(reply, { status: 400, body: { error: 'unsupported_grant_type' } })
})

t.test(
  'a public client cannot use client_credentials, even if it is registered for it (RFC 6749 section 3.2.1; checklist 21)',
  async t => {
    const { token } = await startServer(t, { clients: [{ ...publicClient('spa'), grant_types: grantTypes }] })
    const reply = await token({ ...grant, client_id: 'spa' }, {})

    t.match(reply, { status: 400, body: { error: 'unauthorized_client' } })
  },
)

t.test(
  'a JWT access token has the form of RFC 9068 and is signed with a published key (RFC 9068 section 4, RFC 9068 section 2.2; checklist 88, 89)',
  async t => {
    const { token, server, clock } = await startServer(t)

    const { body } = await token({ ...grant, scope: 'read' }, { as: 'app' })

    const [header, payload, signature] = String(body.access_token).split('.')
    const iat = clock.nowMs() / 1000
    const { jti, ...claims } = decode(payload)
    t.same(claims, {
      iss: issuer,
      aud: issuer,
      sub: 'app',
      client_id: 'app',
      scope: 'read',
      iat,
      nbf: iat,
      exp: iat + 600,
    })
    t.match(jti, /^[\w-]{22}$/)
    const { keys } = server.jwks().body as { keys: Record<string, string>[] }
    t.match(decode(header), { typ: 'at+jwt', alg: 'ES256', kid: keys[0]?.kid })
    t.match(keys, [{ kty: 'EC', crv: 'P-256', use: 'sig', alg: 'ES256', d: undefined }])
    const key = { key: keys[0] ?? {}, format: 'jwk', dsaEncoding: 'ieee-p1363' } as const
    t.ok(verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature ?? '', 'base64url')))
  },
)

t.test('no two tokens are the same', async t => {
  const { token } = await startServer(t)
  const tokens = await Promise.all(Array.from({ length: 20 }, () => token(grant, { as: 'app' })))

  t.equal(new Set(tokens.map(({ body }) => body.access_token)).size, 20)
})

t.test(
  'with a resource the token is valid only there; an unknown resource is an invalid_target (RFC 8707 section 2; checklist 66)',
  async t => {
    const { token, introspect } = await startServer(t)
    const resource = 'https://api.example/accounts'

    const { body } = await token({ ...grant, resource }, { as: 'app' })

    t.match(await introspect({ token: String(body.access_token) }, { as: 'app' }), { body: { aud: resource } })
    for (const bad of ['accounts', '/accounts', `${resource}/`, `${resource}#part`, resource.toUpperCase()]) {
      t.match(
        await token({ ...grant, resource: bad }, { as: 'app' }),
        { status: 400, body: { error: 'invalid_target' } },
        bad,
      )
    }
  },
)
