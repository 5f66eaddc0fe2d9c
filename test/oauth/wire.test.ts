import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { findFreePort } from '../support/free-port.ts'
import { type Fields, post } from './support/post.ts'
import { startOAuth } from './support/running.ts'

t.test('the authorization server over real sockets, its workers sharing one store', async t => {
  const gateway = await startOAuth(t)
  const { url } = gateway
  const grant = { grant_type: 'client_credentials' }

  await t.test('line 1, 67: GET is 405 with Allow, as JSON', async t => {
    for (const path of ['/token', '/introspect', '/revoke']) {
      const response = await fetch(url + path)
      t.equal(response.status, 405, path)
      t.equal(response.headers.get('allow'), 'POST')
      t.equal(response.headers.get('cache-control'), 'no-store')
      t.match(await response.json(), { error: 'invalid_request' })
    }
  })

  await t.test('line 5: a secret in the query is refused and shows in no log line and no metric', async t => {
    for (const name of ['client_secret', 'code', 'refresh_token', 'client_assertion']) {
      t.match(await post(`${url}/token?${name}=s3cr3t-in-url`, grant, 'app'), {
        status: 400,
        body: { error: 'invalid_request' },
      })
    }
    const metrics = await (await fetch(`${gateway.admin}/metrics`)).text()
    t.notMatch(metrics, /s3cr3t-in-url/)
    t.notMatch(gateway.output.join('\n'), /s3cr3t-in-url/)
  })

  await t.test('line 6, 7: answers and refusals alike are JSON that must not be stored', async t => {
    const token = { token: String((await post(`${url}/token`, grant, 'app')).body.access_token) }
    for (const answer of [
      await post(`${url}/token`, grant, 'app'),
      await post(`${url}/token`, {}, 'app'),
      await post(`${url}/token`, grant),
      await post(`${url}/introspect`, token, 'app'),
      await post(`${url}/introspect`, token),
      await post(`${url}/revoke`, {}, 'app'),
    ]) {
      t.match(answer.headers.get('content-type'), /^application\/json/)
      t.equal(answer.headers.get('cache-control'), 'no-store')
    }
    t.match((await post(`${url}/token`, grant)).headers.get('www-authenticate'), /^Basic realm=/)
  })

  await t.test('line 11: concurrent refusals never mix', async t => {
    const wrong = Array.from({ length: 40 }, (_, i) =>
      i % 2 === 0
        ? post(`${url}/token`, { grant_type: 'magic' }, 'app').then(
            ({ body }) => body.error === 'unsupported_grant_type',
          )
        : post(`${url}/token`, { ...grant, scope: 'none' }, 'app').then(({ body }) => body.error === 'invalid_scope'),
    )

    t.notOk((await Promise.all(wrong)).includes(false))
  })

  await t.test('line 68, 69: unknown and foreign tokens give the same bytes', async t => {
    const token = String((await post(`${url}/token`, grant, 'server')).body.access_token)
    const unknown = await post(`${url}/introspect`, { token: 'nothing' }, 'app')
    const foreign = await post(`${url}/introspect`, { token }, 'app')

    t.equal(unknown.text, '{"active":false}')
    t.equal(foreign.text, unknown.text)
    t.match((await post(`${url}/introspect`, { token }, 'server')).body, { active: true })
  })

  await t.test('line 93: the metadata never follow Host or X-Forwarded-Host', async t => {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }

    const metadata = await getJson(`${url}/.well-known/oauth-authorization-server`, headers)

    t.match(metadata, { issuer: url, token_endpoint: `${url}/token`, jwks_uri: `${url}/.well-known/jwks.json` })
    t.notMatch(JSON.stringify(metadata), 'evil')
  })
})

/** Unlike `fetch`, sends the Host it is told to. */
const getJson = async (url: string, headers: Fields): Promise<unknown> => {
  const [response] = (await once(request(url, { headers }).end(), 'response')) as [IncomingMessage]
  return JSON.parse(await text(response))
}

t.test('line 93: with a path in the issuer, the well-known part stands between host and path', async t => {
  const listen = `127.0.0.1:${await findFreePort()}`
  const issuer = `http://${listen}/tenant`
  const { url } = await startOAuth(t, { issuer, listen, workers: 1 })

  for (const path of ['/.well-known/oauth-authorization-server/tenant', '/.well-known/oauth-authorization-server']) {
    t.match(await (await fetch(url + path)).json(), { issuer, token_endpoint: `${url}/token` }, path)
  }
  t.equal((await fetch(`${url}/.well-known/oauth-authorization-server/other`)).status, 404)
})
