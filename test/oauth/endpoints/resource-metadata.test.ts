import t from 'tap'
import { startStrictUpstream } from '../../support/recording-upstream.ts'
import { post } from '../support/post.ts'
import { startOAuth } from '../support/running.ts'

/** From a refused request to a token for the API, with no knowledge but its URL (RFC 9728 section 5). */

const operations = [
  { method: 'POST', path: '/token', serves: 'token' },
  { method: 'GET', path: '/authorize', serves: 'authorize' },
  { method: 'GET', path: '/.well-known/oauth-authorization-server', serves: 'discovery' },
  { method: 'GET', path: '/.well-known/jwks.json', serves: 'jwks' },
]

t.test('a forwarded grouping publishes the authorization server for its tokens', async t => {
  const upstream = await startStrictUpstream(t)
  const { url } = await startOAuth(t, {
    workers: 1,
    store: 'memory:',
    upstreams: { api: { targets: [upstream.url] } },
    groupings: [
      { name: 'OAuth', operations },
      { name: 'Root', upstream: 'api', operations: [{ method: 'GET', path: '/open', credentials: 'none' }] },
      {
        name: 'Accounts',
        basePath: '/accounts',
        upstream: 'api',
        operations: [
          { method: 'GET', path: '/**', scopes: ['read'] },
          { method: 'POST', path: '/**', scopes: ['write'] },
        ],
      },
      {
        name: 'Elsewhere',
        basePath: '/elsewhere',
        resource: 'https://api.example/elsewhere',
        upstream: 'api',
        operations: [{ method: 'GET', path: '/**' }],
      },
    ],
  })
  const place = `${url}/.well-known/oauth-protected-resource/accounts`
  const challengesOf = async (path: string, headers = {}): Promise<string> =>
    (await fetch(url + path, { headers })).headers.get('www-authenticate') ?? ''

  await t.test('the resource metadata need no credentials, allow scripts, and may be cached', async t => {
    const answer = await fetch(place)

    t.equal(answer.status, 200)
    t.match(answer.headers.get('content-type'), /^application\/json/)
    t.equal(answer.headers.get('access-control-allow-origin'), '*')
    t.equal(answer.headers.get('cache-control'), 'public, max-age=300')
    t.same(await answer.json(), {
      resource: `${url}/accounts`,
      authorization_servers: [url],
      scopes_supported: ['read', 'write'],
      bearer_methods_supported: ['header'],
      resource_name: 'Accounts',
      dpop_signing_alg_values_supported: ['ES256', 'PS256', 'EdDSA'],
    })
  })

  await t.test('a resource without a path has its metadata at the well-known path itself', async t => {
    const answer = await fetch(`${url}/.well-known/oauth-protected-resource`)

    t.match(await answer.json(), { resource: url, resource_name: 'Root' })
  })

  await t.test('only GET is allowed, and only for a described resource', async t => {
    t.equal((await fetch(place, { method: 'POST' })).status, 405)
    t.equal((await fetch(`${place}/other`)).status, 404)
    t.equal((await fetch(`${url}/.well-known/oauth-protected-resource/elsewhere`)).status, 404)
  })

  await t.test('every 401 and 403 of the grouping has the URL of the metadata', async t => {
    const link = new RegExp(`resource_metadata="${place}"`)
    const { body } = await post(`${url}/token`, { grant_type: 'client_credentials', scope: 'write' }, 'app')

    t.match(await challengesOf('/accounts/1'), link)
    t.match(await challengesOf('/accounts/1', { authorization: 'Bearer wrong' }), link)
    t.match(await challengesOf('/accounts/1', { authorization: `Bearer ${body.access_token}` }), link)
    const elsewhere = await challengesOf('/elsewhere/1')
    t.match(elsewhere, /^Bearer /)
    t.notMatch(elsewhere, 'resource_metadata')
  })

  await t.test(
    'a client that follows the metadata gets a token for that resource only (RFC 8707 section 2; checklist 66)',
    async t => {
      const [, found = ''] = /resource_metadata="([^"]+)"/.exec(await challengesOf('/accounts/1')) ?? []
      const api = (await (await fetch(found)).json()) as { resource: string; authorization_servers: string[] }
      const discovery = await fetch(`${api.authorization_servers[0]}/.well-known/oauth-authorization-server`)
      const server = (await discovery.json()) as { token_endpoint: string; protected_resources: string[] }
      t.ok(server.protected_resources.includes(api.resource))

      const { body } = await post(
        server.token_endpoint,
        { grant_type: 'client_credentials', resource: api.resource },
        'app',
      )

      const headers = { authorization: `Bearer ${body.access_token}` }
      t.equal((await fetch(`${url}/accounts/1`, { headers })).status, 200)
      t.equal((await fetch(`${url}/elsewhere/1`, { headers })).status, 401)
    },
  )

  await t.test('an unknown resource is an invalid_target (RFC 8707 section 2; checklist 66)', async t => {
    for (const resource of [`${url}/accounts/`, `${url}/Accounts`, 'https://nowhere.example', 'accounts']) {
      const answer = await post(`${url}/token`, { grant_type: 'client_credentials', resource }, 'app')
      t.match(answer, { status: 400, body: { error: 'invalid_target' } }, resource)
    }
  })

  await t.test(
    'scripts of every origin may read public documents, and not tokens (RFC 9700 section 2.6; checklist 55)',
    async t => {
      const headers = { origin: 'https://app.example' }
      for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/jwks.json']) {
        t.equal((await fetch(url + path, { headers })).headers.get('access-control-allow-origin'), '*', path)
      }
      const token = await post(`${url}/token`, { grant_type: 'client_credentials' }, 'app', headers)
      t.equal(token.status, 200)
      t.equal(token.headers.get('access-control-allow-origin'), null)
    },
  )
})
