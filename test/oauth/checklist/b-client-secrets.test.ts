import { ask } from '../../support/raw-client.ts'
import { basic } from '../support/authorization-server.ts'
import { jwtBearer } from '../support/client-keys.ts'
import { type Fields, type Posted, post, send } from '../support/post.ts'
import { users } from '../support/running.ts'
import { onEachStore } from './support/each-store.ts'

const grant = { grant_type: 'client_credentials' }
const success = { status: 200, body: { token_type: 'Bearer' } }
const invalidClient = { status: 401, body: { error: 'invalid_client' } }
const invalidRequest = { status: 400, body: { error: 'invalid_request' } }
const oddName = 'a:b c+d%'
const oddSecret = 'p&s=%+ :'

const setup = async () => ({
  // Each test names its own client address, so that the failures of one test do not lock out another.
  trustedProxies: ['127.0.0.1'],
  login: { failures: '10/1minute', users: await users() },
  clients: [
    client('app'),
    client('other'),
    client('posting', { token_endpoint_auth_method: 'client_secret_post' }),
    client(oddName, { client_secret: oddSecret }),
    client('turning', {
      client_secret: 'current',
      client_secrets: [
        { client_secret: 'the-one-before', until: new Date(Date.now() + 3_600_000).toISOString() },
        { client_secret: 'long-gone', until: '2026-01-31T12:00:00Z' },
      ],
    }),
    { client_id: 'spa', token_endpoint_auth_method: 'none', redirect_uris: ['https://spa.example/callback'] },
  ],
})

const client = (client_id: string, changes: object = {}): object => ({
  client_id,
  client_secret: `${client_id}-secret`,
  grant_types: ['client_credentials'],
  scope: 'read write',
  ...changes,
})

let addresses = 0
/** The header of a request from a new client address. */
const fromAnywhere = (): Fields => ({ 'x-forwarded-for': `2001:db8:${(++addresses).toString(16)}::1` })

onEachStore('B. Client secrets', setup, async (t, { url }) => {
  const endpoint = `${url}/token`
  const authorized = (authorization: string, fields: Fields = grant, headers = fromAnywhere()): Promise<Posted> =>
    post(endpoint, fields, undefined, { authorization, ...headers })
  const posted = (fields: Fields): Promise<Posted> => post(endpoint, { ...grant, ...fields }, undefined, fromAnywhere())
  const encoded = (text: string): string => `Basic ${Buffer.from(text, 'latin1').toString('base64')}`

  await t.test(
    'failed authentication is 401 with WWW-Authenticate, by header and by body (RFC 6749 section 5.2; checklist 13)',
    async t => {
      for (const path of ['/token', '/introspect', '/revoke', '/par']) {
        const refusals = [
          await post(url + path, grant, undefined, { authorization: basic('app', 'wrong'), ...fromAnywhere() }),
          await post(url + path, { client_id: 'posting', client_secret: 'wrong' }, undefined, fromAnywhere()),
          await post(url + path, grant, undefined, fromAnywhere()),
        ]
        for (const refused of refusals) {
          t.match(refused, invalidClient, path)
          t.match(refused.headers.get('www-authenticate'), /^Basic realm="[^"]+"$/)
        }
      }
      t.match(await authorized(basic('app', 'app-secret')), success)
    },
  )

  await t.test(
    'both halves of HTTP Basic are form-urldecoded, and a plus is a space (RFC 6749 section 2.3.1; checklist 14)',
    async t => {
      t.match(await authorized(encoded('a%3Ab+c%2Bd%25:p%26s%3D%25%2B+%3A')), success)
      t.match(await authorized(encoded('a%3ab%20c%2bd%25:p%26s%3d%25%2b%20%3a')), success)
      t.match(await authorized(encoded('a%3Ab+c%2Bd%25:p%26s%3D%25++%3A')), invalidClient, 'a space in place of a plus')
      t.match(await authorized(encoded(`${oddName}:${oddSecret}`)), invalidClient, 'not encoded')
    },
  )

  await t.test(
    'a malformed header gets 401, and the scheme is case-insensitive (RFC 7617 section 2; checklist 15)',
    async t => {
      const malformed = {
        'no base64': 'Basic app:app-secret',
        'no colon': encoded('app'),
        'a bad percent sequence': encoded('app:app-secret%2'),
        'invalid UTF-8': encoded('app:%FF%FE'),
        'raw bytes that are not UTF-8': encoded('app:\xff\xfe'),
        'nothing after the scheme': 'Basic',
        'a broken end': `${basic('app', 'app-secret')}=x`,
        'another scheme': basic('app', 'app-secret').replace('Basic', 'Basik'),
      }
      for (const [what, authorization] of Object.entries(malformed)) {
        t.match(await authorized(authorization), invalidClient, what)
      }
      for (const scheme of ['bAsIc', 'basic', 'BASIC']) {
        t.match(await authorized(basic('app', 'app-secret').replace('Basic', scheme)), success, scheme)
      }
    },
  )

  await t.test(
    'two mechanisms at once are an invalid_request, even if both are right (RFC 6749 section 2.3; checklist 16)',
    async t => {
      const authorization = basic('app', 'app-secret')
      const assertion = { client_assertion_type: jwtBearer, client_assertion: 'a.b.c' }

      t.match(
        await authorized(authorization, { ...grant, client_id: 'app', client_secret: 'app-secret' }),
        invalidRequest,
      )
      t.match(await authorized(authorization, { ...grant, ...assertion }), invalidRequest)
      t.match(await posted({ client_id: 'posting', client_secret: 'posting-secret', ...assertion }), invalidRequest)
      const body = 'grant_type=client_credentials'
      const head = `POST /token HTTP/1.1\r\nHost: gw\r\nContent-Type: application/x-www-form-urlencoded\r\n`
      const twice = `Authorization: ${authorization}\r\n`.repeat(2)
      t.equal((await ask(url, `${head}${twice}Content-Length: ${body.length}\r\n\r\n${body}`, 'POST')).status, 400)
    },
  )

  await t.test(
    'a client_id in the body is that of the authenticated client, or an invalid_request (RFC 6749 section 3.2.1; checklist 17)',
    async t => {
      const authorization = basic('app', 'app-secret')

      t.match(await authorized(authorization, { ...grant, client_id: 'app' }), success)
      for (const client_id of ['other', 'App', 'nobody']) {
        t.match(await authorized(authorization, { ...grant, client_id }), invalidRequest, client_id)
      }
    },
  )

  await t.test(
    'an unknown client and a wrong secret get the same bytes (RFC 6749 section 10.10; checklist 18)',
    async t => {
      const facts = ({ status, headers, text }: Posted): string => {
        const told = [...headers].filter(([name]) => !/^(date|x-request-id)$/.test(name))
        return JSON.stringify([status, told, text])
      }

      const wrong = facts(await authorized(basic('app', 'wrong')))
      t.equal(JSON.parse(wrong)[0], 401)
      t.equal(facts(await authorized(basic('nobody', 'wrong'))), wrong)
      t.equal(facts(await posted({ client_id: 'posting', client_secret: 'wrong' })), wrong)
      t.equal(facts(await posted({ client_id: 'nobody', client_secret: 'wrong' })), wrong)
      t.equal(facts(await posted({ client_id: 'nobody' })), wrong)
    },
  )

  await t.test(
    'a secret of another length, or one character off, is wrong (RFC 6749 section 10.10; checklist 19)',
    async t => {
      for (const secret of ['app-secreT', 'app-secre', 'app-secret1', 'a', 'app-secret'.repeat(1000), '']) {
        t.match(await authorized(basic('app', secret)), invalidClient, secret.slice(0, 20))
      }
      t.match(await authorized(basic('app', 'app-secret')), success)
    },
  )

  await t.test('a secret is accepted only by its registered method (RFC 7591 section 2; checklist 20)', async t => {
    t.match(await posted({ client_id: 'app', client_secret: 'app-secret' }), invalidClient)
    t.match(await authorized(basic('posting', 'posting-secret')), invalidClient)
    t.match(await posted({ client_id: 'posting', client_secret: 'posting-secret' }), success)
    for (const client_id of ['app', 'posting']) t.match(await posted({ client_id }), invalidClient, client_id)
  })

  await t.test(
    'a public client sends its client_id, and can neither use client_credentials nor introspect (RFC 6749 section 3.2.1; checklist 21)',
    async t => {
      const code = { grant_type: 'authorization_code', code: 'unknown', redirect_uri: 'https://spa.example/callback' }
      const ask = (path: string, fields: Fields) => post(url + path, fields, undefined, fromAnywhere())

      t.match(await ask('/token', code), invalidClient)
      t.match(await ask('/token', { ...code, client_id: 'spa' }), { status: 400, body: { error: 'invalid_grant' } })
      const refused = { status: 400, body: { error: 'unauthorized_client' } }
      t.match(await ask('/token', { ...grant, client_id: 'spa' }), refused)
      t.match(await ask('/introspect', { token: 'unknown', client_id: 'spa' }), invalidClient)
    },
  )

  await t.test(
    'after ten wrong secrets only this client at this address is refused (RFC 6749 section 2.3.1; checklist 24)',
    async t => {
      const here = fromAnywhere()
      const guess = (n: number) => authorized(basic('app', `guess-${n}`), grant, here)
      for (let n = 0; n < 10; n++) t.match(await guess(n), invalidClient)

      for (let n = 10; n < 16; n++) {
        const refused = await guess(n)
        t.match(refused, { status: 429, body: { error: 'rate_limit_exceeded' } })
        t.ok(Number(refused.headers.get('retry-after')) >= 1)
      }
      t.match(await authorized(basic('other', 'other-secret'), grant, here), success)
      t.match(await authorized(basic('app', 'app-secret'), grant, fromAnywhere()), success)
    },
  )

  await t.test(
    'during a rotation the old and the new secret are accepted, and after the overlap only the new one (checklist 25)',
    async t => {
      t.match(await authorized(basic('turning', 'current')), success)
      t.match(await authorized(basic('turning', 'the-one-before')), success)
      t.match(await authorized(basic('turning', 'long-gone')), invalidClient)
      t.match(await authorized(basic('turning', 'the-one-befor')), invalidClient)
    },
  )

  await t.test(
    'a missing client_id, a missing secret and an unknown client are an invalid_client (RFC 7591 section 2, RFC 6749 section 3.2.1; checklist 20, 21)',
    async t => {
      t.match(await send(endpoint, { body: 'grant_type=client_credentials', headers: fromAnywhere() }), invalidClient)
    },
  )
})
