import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import t from 'tap'
import { startStrictUpstream } from '../../support/recording-upstream.ts'
import { newKey } from '../fapi/support/jws.ts'
import { basic } from '../support/authorization-server.ts'
import { type Fields, type Posted, post, send } from '../support/post.ts'
import { operations } from '../support/running.ts'
import { claimsOf, headerOf, oneCharacterOff, signAccessToken, signingJwks } from './support/access-tokens.ts'
import { nowSec } from './support/assertions.ts'
import { newCode, redeem } from './support/browser.ts'
import { confidentialClient, publicClient } from './support/clients.ts'
import { onEachStore } from './support/each-store.ts'

/** The gateway's signing key, so that a test can sign tokens that the gateway never would. */
const key = newKey('ES256', 'signing')
const accounts = 'https://api.example/accounts'
const upstream = await startStrictUpstream(t)

const setup = () => ({
  keys: { jwks: signingJwks(key) },
  groupings: [
    { name: 'OAuth', operations },
    {
      name: 'Accounts',
      basePath: '/accounts',
      upstream: 'accounts',
      resource: accounts,
      operations: [{ method: 'GET', path: '/**', scopes: ['read'] }],
    },
  ],
  upstreams: { accounts: { targets: [upstream.url] } },
  clients: [
    confidentialClient('app'),
    confidentialClient('other'),
    confidentialClient('server', { introspects: 'all' }),
    confidentialClient('accounts', { introspects: [accounts] }),
    confidentialClient('elsewhere', { introspects: [`${accounts}/`] }),
    publicClient('spa'),
  ],
})

const inactive = '{"active":false}'
const invalidClient = { status: 401, body: { error: 'invalid_client' } }
const signedType = 'application/token-introspection+jwt'

/** The content of a response without the parts that differ in every response. */
const told = ({ status, headers, text }: Posted): string => {
  const fields = [...headers].filter(([name]) => !/^(date|x-request-id|ratelimit)$/.test(name))
  return JSON.stringify([status, fields, text])
}

onEachStore('G. Introspection', setup, async (t, { url, beside }) => {
  const opaque = await beside({ tokens: { accessToken: { format: 'opaque' } } })
  const introspect = (token: unknown, as = 'app', fields: Fields = {}, headers: Fields = {}): Promise<Posted> =>
    post(`${url}/introspect`, { token: String(token), ...fields }, as, headers)
  const issue = async (as = 'app', fields: Fields = {}, at = url): Promise<string> => {
    const { body } = await post(`${at}/token`, { grant_type: 'client_credentials', ...fields }, as)
    return String(body.access_token)
  }
  /** One token of each format. */
  const issueBoth = (as = 'app', fields: Fields = {}): Promise<readonly string[]> =>
    Promise.all([url, opaque.url].map(at => issue(as, fields, at)))

  await t.test(
    'missing or wrong credentials get 401 and no fact about the token (RFC 7662 section 2.1; checklist 67)',
    async t => {
      const token = await issue()
      const refusals = [
        await post(`${url}/introspect`, { token }),
        await post(`${url}/introspect`, { token }, undefined, { authorization: basic('app', 'app-secreT') }),
        await post(`${url}/introspect`, { token }, undefined, { authorization: `Bearer ${token}` }),
        await post(`${url}/introspect`, { token, client_id: 'app' }),
        await post(`${url}/introspect`, { token, client_id: 'spa' }),
      ]
      for (const refused of refusals) {
        t.match(refused, invalidClient)
        t.match(refused.headers.get('www-authenticate'), /^Basic realm=/)
        t.same(Object.keys(refused.body).sort(), ['error', 'error_description'])
      }
      t.match(await introspect(token), { status: 200, body: { active: true } })
    },
  )

  await t.test('GET is 405 (RFC 7662 section 2.1; checklist 67)', async t => {
    const query = new URLSearchParams({ token: await issue() })
    const refused = await send(`${url}/introspect?${query}`, { method: 'GET', as: 'app', type: undefined })

    t.equal(refused.status, 405)
    t.equal(refused.headers.get('allow'), 'POST')
    t.equal(refused.body.active, undefined)
  })

  await t.test('every invalid token gets exactly {"active":false} (RFC 7662 section 2.2; checklist 68)', async t => {
    const [token = '', opaqueToken = ''] = await issueBoth()
    const [revoked = '', revokedOpaque = ''] = await issueBoth()
    for (const token of [revoked, revokedOpaque]) await post(`${url}/revoke`, { token }, 'app')
    const dead: Readonly<Record<string, string>> = {
      unknown: `${'A'.repeat(22)}.${'A'.repeat(43)}`,
      'one character off': oneCharacterOff(token),
      'opaque, and one character off': oneCharacterOff(opaqueToken),
      'one character more': `${token}A`,
      'without its signature': token.replace(/[^.]+$/, ''),
      expired: signAccessToken(key, url, { claims: { exp: nowSec() - 1 } }),
      revoked,
      'revoked, opaque': revokedOpaque,
      "a foreign issuer's": signAccessToken(key, `${url}/`),
      "signed by another's key": signAccessToken(newKey('ES256', key.kid), url),
      malformed: 'no token',
      'dots alone': '..',
      'a blank': ' ',
      'a NUL': '\0',
      'a zero-width space': '\u200b',
      'the word null': 'null',
      'more than Unicode has room for': '\u{1f600}'.repeat(5000),
      'as long as a body may be': 'x'.repeat(65_000),
      'a JWT as long as a body may be': `${token}.${'x'.repeat(60_000)}`,
    }
    for (const [what, text] of Object.entries(dead)) {
      const { status, headers, text: answer } = await introspect(text)
      t.equal(status, 200, what)
      t.equal(answer, inactive, what)
      t.match(headers.get('content-type'), /^application\/json(;|$)/)
    }
    for (const good of [token, opaqueToken, signAccessToken(key, url)]) {
      t.match((await introspect(good)).body, { active: true })
    }
    t.equal((await introspect('x'.repeat(66_000))).status, 413)
  })

  await t.test(
    'a caller that is not entitled gets the same bytes as for an unknown token (RFC 7662 section 2.2; checklist 69)',
    async t => {
      const unknown = told(await introspect('unknown'))
      const { body: others } = await redeem(url, await newCode(url, { client_id: 'server' }), {}, 'server')

      t.match(JSON.parse(unknown), [200, Array, inactive])
      for (const token of await issueBoth('server', { resource: accounts })) {
        for (const as of ['app', 'elsewhere']) t.equal(told(await introspect(token, as)), unknown, as)
        for (const as of ['server', 'accounts']) t.match((await introspect(token, as)).body, { active: true }, as)
      }
      t.equal(told(await introspect(others.refresh_token)), unknown)
    },
  )

  await t.test('a wrong or unknown hint changes nothing (RFC 7662 section 2.1; checklist 70)', async t => {
    const { body } = await redeem(url, await newCode(url))

    for (const token of [body.access_token, await issue('app', {}, opaque.url), body.refresh_token, 'unknown']) {
      const { text } = await introspect(token)
      for (const token_type_hint of ['access_token', 'refresh_token', 'Access_Token', 'saml', '\u{1f600}']) {
        t.equal((await introspect(token, 'app', { token_type_hint })).text, text, token_type_hint)
      }
    }
  })

  await t.test('a request without a token is an invalid_request (RFC 7662 section 2.3; checklist 71)', async t => {
    for (const fields of [{}, { token: '' }, { Token: 'x' }, { token_type_hint: 'access_token' }]) {
      const refused = await post(`${url}/introspect`, fields as Fields, 'app')
      t.match(refused, { status: 400, body: { error: 'invalid_request' } })
      t.equal(refused.body.active, undefined)
    }
  })

  await t.test(
    'a caller that asks for a JWT gets one that is signed for it alone (RFC 9701 section 5; checklist 75)',
    async t => {
      const token = await issue()
      const keys = createLocalJWKSet(
        (await send(`${url}/.well-known/jwks.json`, { method: 'GET' })).body as unknown as JSONWebKeySet,
      )
      const askSigned = (text: string, as: string) => introspect(text, as, {}, { accept: signedType })

      for (const as of ['app', 'server', 'other']) {
        const { status, headers, text } = await askSigned(token, as)
        t.equal(status, 200)
        t.equal(headers.get('content-type'), signedType)
        const { payload, protectedHeader } = await jwtVerify(text, keys, { issuer: url, audience: as })
        t.equal(protectedHeader.typ, 'token-introspection+jwt')
        t.same(Object.keys(payload).sort(), ['aud', 'iat', 'iss', 'token_introspection'], 'no sub and no exp')
        t.ok(Number.isSafeInteger(payload.iat))
        t.same(payload.token_introspection, (await introspect(token, as)).body)
      }
      t.match(claimsOf((await askSigned('unknown', 'app')).text), { token_introspection: { active: false } })
      t.match((await introspect(token, 'app', {}, { accept: `${signedType}x` })).body, { active: true })
      t.match(await post(`${url}/introspect`, { token }, undefined, { accept: signedType }), invalidClient)
    },
  )

  await t.test(
    'the JWT of an introspection is refused as an access token (RFC 9701 section 5; checklist 75)',
    async t => {
      const token = await issue()
      const { text } = await introspect(token, 'app', {}, { accept: signedType })
      const call = (shown: string): Promise<Posted> =>
        send(`${url}/accounts/x`, { method: 'GET', headers: { authorization: `Bearer ${shown}` } })

      t.match(headerOf(text), { kid: key.kid })
      t.equal((await call(text)).status, 401)
      t.equal((await introspect(text)).text, inactive)
      t.equal((await call(token)).status, 200)
    },
  )
})
