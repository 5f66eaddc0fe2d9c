import t from 'tap'
import { challengeOf } from '../../src/oauth/tokens/code.ts'
import { basic, verifier } from './support/authorization-server.ts'
import { callback, signInAndAllow, startOAuth } from './support/running.ts'

type Fields = Readonly<Record<string, string>>

/** Sends a form on a connection of its own, so that the workers take turns. */
const post = async (url: string, fields: Fields, as?: string, headers: Fields = {}) => {
  const authorization: Fields = as === undefined ? {} : { authorization: basic(as, `${as}-secret`) }
  const body = new URLSearchParams(fields)
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { connection: 'close', ...authorization, ...headers },
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: text === '' ? {} : JSON.parse(text) }
}

t.test('the authorization server over real sockets, its workers sharing one store', async t => {
  const gateway = await startOAuth(t)
  const { url } = gateway
  const grant = { grant_type: 'client_credentials' }
  const newCode = async (client_id: string): Promise<string> => {
    const authorization = new URL(`${url}/authorize`)
    authorization.search = new URLSearchParams({
      client_id,
      response_type: 'code',
      redirect_uri: callback,
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
    }).toString()
    return (await signInAndAllow(authorization)).searchParams.get('code') ?? ''
  }

  await t.test('line 1, 67: GET is 405 with Allow, as JSON', async t => {
    for (const path of ['/token', '/introspect', '/revoke']) {
      const response = await fetch(url + path)
      t.equal(response.status, 405, path)
      t.equal(response.headers.get('allow'), 'POST')
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
    const token = { token: (await post(`${url}/token`, grant, 'app')).body.access_token }
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

  await t.test('line 27: of 50 parallel redemptions over the workers exactly one succeeds', async t => {
    const fields = {
      grant_type: 'authorization_code',
      code: await newCode('app'),
      redirect_uri: callback,
      code_verifier: verifier,
    }

    const replies = await Promise.all(Array.from({ length: 50 }, () => post(`${url}/token`, fields, 'app')))

    const won = replies.filter(({ status }) => status === 200)
    t.equal(won.length, 1)
    t.ok(replies.every(({ status, body }) => status === 200 || (status === 400 && body.error === 'invalid_grant')))
    t.same((await post(`${url}/introspect`, { token: won[0]?.body.access_token }, 'app')).body, { active: false })
  })

  await t.test('line 68, 69: unknown and foreign tokens give the same bytes', async t => {
    const { body } = await post(`${url}/token`, grant, 'server')
    const unknown = await post(`${url}/introspect`, { token: 'nothing' }, 'app')
    const foreign = await post(`${url}/introspect`, { token: body.access_token }, 'app')

    t.equal(unknown.text, '{"active":false}')
    t.equal(foreign.text, unknown.text)
    t.match((await post(`${url}/introspect`, { token: body.access_token }, 'server')).body, { active: true })
  })

  await t.test('line 74: once a revocation is answered every worker says inactive', async t => {
    const { access_token } = (await post(`${url}/token`, grant, 'app')).body
    t.match((await post(`${url}/introspect`, { token: access_token }, 'server')).body, { active: true })

    t.equal((await post(`${url}/revoke`, { token: access_token }, 'app')).status, 200)

    const answers = await Promise.all(
      Array.from({ length: 30 }, () => post(`${url}/introspect`, { token: access_token }, 'server')),
    )
    t.ok(answers.every(({ text }) => text === '{"active":false}'))
  })

  await t.test('line 93: the metadata never follow Host or X-Forwarded-Host', async t => {
    const response = await fetch(`${url}/.well-known/oauth-authorization-server`, {
      headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
    })

    t.match(await response.json(), {
      issuer: url,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/.well-known/jwks.json`,
    })
  })
})
