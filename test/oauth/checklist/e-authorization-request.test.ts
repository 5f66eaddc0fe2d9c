import { type Posted, send } from '../support/post.ts'
import {
  answerOf,
  askToAuthorize,
  authorizationQuery,
  authorize,
  callback,
  enter,
  locationOf,
  type Parameters,
} from './support/browser.ts'
import { onEachStore } from './support/each-store.ts'

const withQuery = `${callback}?tenant=a%20b`
const loopback = 'http://127.0.0.1/native?x=1'

const setup = () => ({
  clients: [
    client('app', [callback]),
    client('two', [callback, withQuery]),
    client('native', [loopback, 'http://[::1]:9/native', 'https://native.example/cb'], { application_type: 'native' }),
    client('web', ['http://127.0.0.1/web']),
  ],
})

const client = (client_id: string, redirect_uris: readonly string[], changes: object = {}): object => ({
  client_id,
  token_endpoint_auth_method: 'none',
  redirect_uris,
  scope: 'read write',
  ...changes,
})

onEachStore('E. Authorization request', setup, async (t, { url }) => {
  const ask = (changes: Parameters): Promise<Posted> => askToAuthorize(url, authorizationQuery(changes))
  const leadsToLogin = (reply: Posted): boolean => /^\/interaction\/[A-Za-z0-9_-]{22}$/.test(locationOf(reply))
  /** Whether it is a page without a redirect. */
  const isDeadEnd = (reply: Posted): boolean =>
    reply.status === 400 && locationOf(reply) === '' && /^text\/html/.test(reply.headers.get('content-type') ?? '')
  const postForm = (body: string, query = '') => send(`${url}/authorize${query}`, { body })

  await t.test('GET and POST give the same result (RFC 6749 section 3.1; checklist 39)', async t => {
    t.ok(leadsToLogin(await ask({})))
    t.ok(leadsToLogin(await postForm(authorizationQuery())))
    for (const wrong of [{ scope: 'unknown' }, { response_type: 'token' }, { code_challenge: undefined }]) {
      const query = authorizationQuery({ state: 'a-state', ...wrong })
      const [got, posted] = [await askToAuthorize(url, query), await postForm(query)]
      t.equal(posted.status, got.status)
      t.equal(locationOf(posted), locationOf(got))
      t.ok(answerOf(got).error)
    }
  })

  await t.test(
    'of a POST only the body counts, and a parameter in both places is a duplicate (RFC 6749 section 3.1; checklist 39)',
    async t => {
      t.ok(isDeadEnd(await postForm('', `?${authorizationQuery()}`)), 'a client_id in the query does not count')
      const both = await postForm(authorizationQuery({ state: 'a-state' }), '?scope=read')
      t.ok(leadsToLogin(both), 'a parameter that is only in the query does not count')
      const twice = await postForm(authorizationQuery({ scope: 'read' }), '?scope=read')
      t.equal(answerOf(twice).error, 'invalid_request')
      t.ok(isDeadEnd(await postForm(authorizationQuery(), '?client_id=app')))
    },
  )

  await t.test(
    'an unknown client or redirect URI gets a page and no Location (RFC 6749 section 4.1.2.1; checklist 40)',
    async t => {
      const wrong = [
        { client_id: 'nobody' },
        { client_id: undefined },
        { client_id: 'App' },
        { redirect_uri: 'https://evil.example/callback' },
        { client_id: 'two', redirect_uri: undefined },
      ]
      for (const changes of wrong) t.ok(isDeadEnd(await ask(changes)), JSON.stringify(changes))
      t.ok(isDeadEnd(await ask({ redirect_uri: 'https://evil.example/callback', scope: 'unknown' })))
    },
  )

  await t.test('a redirect URI matches only the same bytes (RFC 9700 section 2.1; checklist 41)', async t => {
    const near = [
      `${callback}/`,
      callback.replace('callback', 'Callback'),
      callback.replace('client', 'CLIENT'),
      callback.replace('callback', 'call%62ack'),
      callback.replace('callback', 'x/../callback'),
      `${callback}%2e`,
      `${callback}?extra=query`,
      callback.replace('client', 'user@client'),
      `${callback}\\`,
      `${callback};x`,
      `${callback}#x`,
      callback.replace('client', 'sub.client'),
      callback.replace('.example', '.example:443'),
      callback.replace('.example', '.example.evil.example'),
      callback.replace('https', 'http'),
      ` ${callback}`,
    ]
    for (const redirect_uri of near) t.ok(isDeadEnd(await ask({ redirect_uri })), redirect_uri)
    t.ok(leadsToLogin(await ask({ redirect_uri: callback })))
  })

  await t.test(
    'a native client may choose only the port of a loopback address (RFC 8252 section 7.3; checklist 42)',
    async t => {
      const askAs = (client_id: string) => (redirect_uri: string) => ask({ client_id, redirect_uri })
      for (const free of ['http://127.0.0.1:51004/native?x=1', loopback, 'http://[::1]:51004/native']) {
        t.ok(leadsToLogin(await askAs('native')(free)), free)
      }
      const near = [
        'http://127.0.0.1:51004/native',
        'http://127.0.0.1:51004/native?x=2',
        'http://127.0.0.1:51004/Native?x=1',
        'https://127.0.0.1:51004/native?x=1',
        'http://127.0.0.2:51004/native?x=1',
        'http://localhost:51004/native?x=1',
        'http://127.0.0.1:1@evil.example/native?x=1',
        'https://native.example:8443/cb',
      ]
      for (const redirect_uri of near) t.ok(isDeadEnd(await askAs('native')(redirect_uri)), redirect_uri)
      t.ok(leadsToLogin(await askAs('web')('http://127.0.0.1/web')))
      t.ok(isDeadEnd(await askAs('web')('http://127.0.0.1:51004/web')), 'no native client')
    },
  )

  await t.test(
    'redirect_uri may be omitted if the client has exactly one (RFC 6749 section 3.1.2.3; checklist 44)',
    async t => {
      t.ok(leadsToLogin(await ask({ redirect_uri: undefined })))
      t.ok(isDeadEnd(await ask({ client_id: 'two', redirect_uri: undefined })))
    },
  )

  await t.test(
    "the query of the redirect URI is kept, and the client's page inherits no fragment (RFC 6749 section 3.1.2; checklist 45)",
    async t => {
      const refused = await ask({ client_id: 'two', redirect_uri: withQuery, scope: 'unknown', state: 'a-state' })
      const visit = await enter(url, authorizationQuery({ client_id: 'two', redirect_uri: withQuery }))
      await visit.signIn()
      const allowed = await visit.submit({ decision: 'allow' })

      t.ok(locationOf(refused).startsWith(`${withQuery}&error=invalid_scope&`))
      t.ok(locationOf(allowed).startsWith(`${withQuery}&code=`))
      // A browser applies the fragment of the request's URL to a redirect without one; only a form submission has none.
      t.equal(new URL(locationOf(refused)).hash, '#_')
    },
  )

  await t.test(
    'state comes back unchanged, and a request without one gets none (RFC 6749 section 4.1.2; checklist 46)',
    async t => {
      const state = `a&b#c%0d%0aé\u{1f600} "+"=?/\\ ${'x'.repeat(2000)}`
      t.equal(answerOf(await ask({ scope: 'unknown', state })).state, state)
      t.equal((await authorize(url, authorizationQuery({ state }))).state, state)

      t.notOk('state' in answerOf(await ask({ scope: 'unknown' })))
      t.notOk('state' in (await authorize(url, authorizationQuery())))
    },
  )

  await t.test(
    'iss is in success and error responses, and equals the issuer of the metadata (RFC 9207 section 2; checklist 47)',
    async t => {
      const { issuer, ...metadata } = (await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()) as {
        issuer: string
        authorization_response_iss_parameter_supported: boolean
      }
      t.equal(issuer, url)
      t.equal(metadata.authorization_response_iss_parameter_supported, true)
      t.equal(answerOf(await ask({ scope: 'unknown' })).iss, issuer)
      t.equal((await authorize(url, authorizationQuery())).iss, issuer)
    },
  )

  await t.test(
    'every redirect is 303, also after the login form, and has no-store (RFC 9700 section 4.12; checklist 48)',
    async t => {
      const visit = await enter(url, authorizationQuery())
      const redirects = [await ask({}), await ask({ scope: 'unknown' }), await visit.signIn()]

      for (const { status, headers } of [...redirects, await visit.submit({ decision: 'allow' })]) {
        t.equal(status, 303)
        t.equal(headers.get('cache-control'), 'no-store')
      }
    },
  )

  await t.test('response_type is required, and must be code (RFC 6749 section 4.1.2.1; checklist 49)', async t => {
    t.equal(answerOf(await ask({ response_type: undefined })).error, 'invalid_request')
    for (const response_type of ['token', 'id_token', 'code token', 'code id_token', 'Code', 'none']) {
      const refused = await ask({ response_type })
      t.equal(answerOf(refused).error, 'unsupported_response_type', response_type)
      t.notMatch(locationOf(refused), /#.*error/, 'by query')
    }
  })

  await t.test(
    'an unknown scope is an invalid_scope; order and doubled spaces do not matter, case does (RFC 6749 section 3.3; checklist 50)',
    async t => {
      for (const scope of ['unknown', 'Read', 'read unknown', 'read,write']) {
        t.equal(answerOf(await ask({ scope })).error, 'invalid_scope', scope)
      }
      for (const scope of ['read write', 'write read', ' read  write ']) t.ok(leadsToLogin(await ask({ scope })), scope)
    },
  )

  await t.test(
    'a duplicate parameter is an error by redirect, unless it is client_id or redirect_uri (RFC 6749 section 3.1; checklist 51)',
    async t => {
      for (const name of ['scope', 'state', 'response_type', 'code_challenge', 'unknown']) {
        const twice = await askToAuthorize(url, `${authorizationQuery({ [name]: 'a' })}&${name}=a`)
        t.equal(answerOf(twice).error, 'invalid_request', name)
      }
      for (const [name, value] of [
        ['client_id', 'app'],
        ['redirect_uri', encodeURIComponent(callback)],
      ] as const) {
        t.ok(isDeadEnd(await askToAuthorize(url, `${authorizationQuery()}&${name}=${value}`)), name)
      }
    },
  )
})
