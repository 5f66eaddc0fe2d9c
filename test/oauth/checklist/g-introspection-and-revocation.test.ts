import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import type { Test } from 'tap'
import { type Fields, post, send } from '../support/post.ts'
import { callback, newCode, redeem } from './support/browser.ts'
import { onEachStore, type Section } from './support/each-store.ts'

const resource = 'https://api.example/items'
const inactive = '{"active":false}'
const signedType = 'application/token-introspection+jwt'

const client = (client_id: string, changes: object = {}): object => ({
  client_id,
  client_secret: `${client_id}-secret`,
  grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
  redirect_uris: [callback],
  scope: 'read write',
  ...changes,
})

const setup = (format: string) => () => ({
  tokens: { accessToken: { format } },
  clients: [
    client('app', { introspection_signed_response_alg: 'EdDSA' }),
    client('other'),
    client('all', { introspects: 'all' }),
    client('api', { introspects: [resource] }),
    client('spa', {
      client_secret: undefined,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    }),
  ],
})

for (const format of ['jwt', 'opaque']) {
  onEachStore(`G. introspection and revocation, ${format}`, setup(format), (t, section) => checkLines(t, section))
}

const checkLines = async (t: Test, { url }: Section): Promise<void> => {
  const ask = (token: unknown, as: string | undefined, more: Fields = {}, headers: Fields = {}) =>
    post(`${url}/introspect`, { token: String(token), ...more }, as, headers)
  const revoke = (token: unknown, as: string | undefined, more: Fields = {}) =>
    post(`${url}/revoke`, { token: String(token), ...more }, as)
  const ownToken = async (as = 'app', more: Fields = {}): Promise<string> =>
    String((await post(`${url}/token`, { grant_type: 'client_credentials', ...more }, as)).body.access_token)
  const personTokens = async () => {
    const { body } = await redeem(url, await newCode(url))
    return { access: String(body.access_token), refresh: String(body.refresh_token) }
  }
  const isActive = async (token: unknown, as = 'app'): Promise<boolean> => (await ask(token, as)).text !== inactive

  await t.test('line 67: without good credentials, or by GET, there is not a word about the token', async t => {
    const token = await ownToken()
    const refused = { status: 401, body: { error: 'invalid_client', active: undefined, scope: undefined } }

    for (const answer of [
      await ask(token, undefined),
      await ask(token, 'nobody'),
      await ask(token, undefined, { client_id: 'app', client_secret: 'wrong' }),
      await ask(token, undefined, { client_id: 'spa' }),
    ]) {
      t.match(answer, refused)
      t.match(answer.headers.get('www-authenticate'), /^Basic realm=/)
    }
    const get = await send(`${url}/introspect?token=${token}`, { method: 'GET', as: 'app' })
    t.match(get, { status: 405 })
    t.equal(get.headers.get('allow'), 'POST')
  })

  await t.test('line 68: whatever is no good token is exactly {"active":false}', async t => {
    const good = await ownToken()
    const flipped = `${good.slice(0, -6)}${good.at(-6) === 'A' ? 'B' : 'A'}${good.slice(-5)}`
    const revoked = await ownToken()
    await revoke(revoked, 'app')

    for (const token of [
      'x',
      ' ',
      '.',
      '..',
      'a.b.c',
      '\u0000',
      'ä💥',
      flipped,
      revoked,
      `${good}.`,
      'a'.repeat(60_000),
    ]) {
      const { status, text } = await ask(token, 'app')
      t.equal(`${status} ${text}`, `200 ${inactive}`, token.slice(0, 20))
    }
    t.ok(await isActive(good))
  })

  await t.test('line 69: who is not entitled gets the bytes of an unknown token', async t => {
    const own = await ownToken()
    const bytesFor = async (token: string, as: string) => {
      const { status, headers, text } = await ask(token, as)
      const fields = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name))
      return { status, text, fields: fields.filter(([name]) => !name.startsWith('ratelimit')) }
    }

    t.same(await bytesFor(own, 'other'), await bytesFor('unknown', 'other'))
    t.same(await bytesFor(own, 'api'), await bytesFor('unknown', 'api'))
    t.match(await ask(await ownToken('app', { resource }), 'api'), { body: { active: true, aud: resource } })
    t.ok(await isActive(own, 'all'))
    t.ok(await isActive(own, 'app'))
  })

  await t.test('line 70: a hint, right, wrong or unknown, changes no answer', async t => {
    const { access, refresh } = await personTokens()
    for (const token of [access, refresh, 'unknown']) {
      const { text } = await ask(token, 'app')
      for (const token_type_hint of ['access_token', 'refresh_token', 'magic', '']) {
        t.equal((await ask(token, 'app', { token_type_hint })).text, text, token_type_hint)
      }
    }
  })

  await t.test('line 71: without a token there is nothing to ask about, nor to revoke', async t => {
    for (const path of ['introspect', 'revoke']) {
      for (const fields of [{}, { token: '' }, { tokens: 'x' }]) {
        t.match(await post(`${url}/${path}`, fields, 'app'), { status: 400, body: { error: 'invalid_request' } })
      }
    }
  })

  await t.test('line 72, 73: every member has its type, and both formats have the same members', async t => {
    const { access, refresh } = await personTokens()

    const { body } = await ask(access, 'app')

    t.equal(body.active, true)
    for (const name of ['iat', 'nbf', 'exp']) t.ok(Number.isInteger(body[name]), name)
    t.match(body, {
      iss: url,
      aud: url,
      client_id: 'app',
      scope: 'read write',
      token_type: 'Bearer',
      username: 'alice',
    })
    const members = 'active iss client_id sub username scope aud token_type iat nbf exp jti auth_time'
    t.same(Object.keys(body).sort(), members.split(' ').sort())
    t.match(await ask(refresh, 'app'), { body: { active: true, client_id: 'app' } })
    t.equal((await ask(refresh, 'all')).text, inactive, 'a refresh token is for the eyes of its client')
  })

  await t.test('line 75: the same answer as a signed JWT, for its caller alone, and no access token', async t => {
    const keys = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as JSONWebKeySet
    const token = await ownToken()
    const asked = { accept: signedType }

    const signed = await ask(token, 'app', {}, asked)

    t.equal(signed.headers.get('content-type'), signedType)
    t.equal(signed.headers.get('cache-control'), 'no-store')
    const rules = { issuer: url, audience: 'app', typ: 'token-introspection+jwt', algorithms: ['EdDSA'] }
    const { payload } = await jwtVerify(signed.text, createLocalJWKSet(keys), rules)
    t.same(Object.keys(payload).sort(), ['aud', 'iat', 'iss', 'token_introspection'])
    t.same(payload.token_introspection, (await ask(token, 'app')).body)
    const unknown = await ask('unknown', 'app', {}, asked)
    const told = (await jwtVerify(unknown.text, createLocalJWKSet(keys), rules)).payload.token_introspection
    t.same(told, { active: false })
    t.notOk(await isActive(signed.text), 'such a JWT is no token')
    const plain = await ask(token, 'app', {}, { accept: 'application/json, */*' })
    t.equal(plain.headers.get('content-type'), 'application/json')
    t.match(await ask(token, undefined, {}, asked), { status: 401, body: { error: 'invalid_client' } })
  })

  await t.test("line 76: good, unknown and revoked tokens are 200; another client's is refused and stays", async t => {
    const { access, refresh } = await personTokens()

    for (const token of [access, refresh]) {
      t.match(await revoke(token, 'other'), { status: 400, body: { error: 'invalid_grant' } })
      t.ok(await isActive(token))
    }
    for (const token of ['unknown', access, access]) {
      const answer = await revoke(token, 'app', { token_type_hint: 'magic' })
      t.equal(answer.status, 200)
      t.equal(answer.headers.get('cache-control'), 'no-store')
    }
    t.notOk(await isActive(access))
  })

  await t.test(
    'line 77: a refresh token takes the access tokens of its grant along, an access token takes nothing',
    async t => {
      const [ended, kept] = [await personTokens(), await personTokens()]

      await revoke(ended.refresh, 'app')
      await revoke(kept.access, 'app')

      t.notOk(await isActive(ended.access))
      t.notOk(await isActive(ended.refresh))
      t.notOk(await isActive(kept.access))
      t.ok(await isActive(kept.refresh))
      const refresh = { grant_type: 'refresh_token', refresh_token: kept.refresh }
      t.match(await post(`${url}/token`, refresh, 'app'), { status: 200 })
    },
  )

  await t.test('line 77: a public client may revoke what has been replaced, and its grant ends', async t => {
    const spa = { client_id: 'spa' }
    const first = await redeem(url, await newCode(url, spa), spa, undefined)
    const replaced = String(first.body.refresh_token)
    const next = await post(`${url}/token`, { grant_type: 'refresh_token', refresh_token: replaced, ...spa })

    t.equal((await revoke(replaced, undefined, spa)).status, 200)

    for (const { access_token } of [first.body, next.body]) t.notOk(await isActive(access_token, 'all'))
    const refresh = { grant_type: 'refresh_token', refresh_token: String(next.body.refresh_token), ...spa }
    t.match(await post(`${url}/token`, refresh), { status: 400, body: { error: 'invalid_grant' } })
  })
}
