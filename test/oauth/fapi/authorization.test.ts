import t from 'tap'
import { post } from '../support/post.ts'
import { authorizationUrl, redirect_uri } from './support/fapi-client.ts'
import { startFapi } from './support/running.ts'

/** The authorization endpoint and the metadata under `profile: fapi2`, as the conformance suite tests them. */

t.test('authorization under FAPI 2.0', async t => {
  const { url, tpp } = await startFapi(t)

  await t.test('discovery: the metadata have the required values of the profile, and no forbidden one', async t => {
    const metadata = (await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()) as Record<
      string,
      unknown
    >

    t.equal(metadata.issuer, url)
    t.equal(metadata.require_pushed_authorization_requests, true)
    t.equal(metadata.pushed_authorization_request_endpoint, `${url}/par`)
    t.same(metadata.code_challenge_methods_supported, ['S256'])
    t.equal(metadata.authorization_response_iss_parameter_supported, true)
    t.same(metadata.response_types_supported, ['code'])
    const methods = metadata.token_endpoint_auth_methods_supported as readonly string[]
    t.ok(methods.includes('private_key_jwt'))
    t.notOk(
      methods.some(method => method === 'none' || method.startsWith('client_secret')),
      String(methods),
    )
    for (const list of ['token_endpoint_auth_signing_alg_values_supported', 'dpop_signing_alg_values_supported']) {
      const algs = metadata[list] as readonly string[]
      t.ok(algs.length > 0, list)
      t.ok(
        algs.every(alg => ['PS256', 'ES256', 'EdDSA'].includes(alg)),
        `${list}: ${algs}`,
      )
    }
  })

  await t.test('the response has iss, the unchanged state, and a code', async t => {
    const done = await tpp.authorize({ state: 'x'.repeat(128) })

    t.equal(done.searchParams.get('iss'), url)
    t.equal(done.searchParams.get('state'), 'x'.repeat(128))
    t.ok((done.searchParams.get('code')?.length ?? 0) >= 22)
  })
  await t.test('authorization-request-with-long-state: 1000 characters come back', async t => {
    const state = `${'s'.repeat(900)}${'é&#%'.repeat(25)}`

    t.equal((await tpp.authorize({ state })).searchParams.get('state'), state)
  })
  await t.test('authorization-request-without-state-success: the response has no state', async t => {
    const done = await tpp.authorize({ state: undefined })

    t.ok(done.searchParams.get('code'))
    t.notOk(done.searchParams.has('state'))
  })
  await t.test('other-scope-order-succeeds', async t => {
    for (const scope of ['accounts payments', 'payments accounts']) {
      const { body } = await tpp.redeem(await tpp.newCode({ scope }))
      t.same(new Set(String(body.scope).split(' ')), new Set(['accounts', 'payments']))
    }
  })
  await t.test('nonce and claims, which are of OpenID Connect, are ignored', async t => {
    const changes = { nonce: 'n'.repeat(64), claims: '{"id_token":{"acr":null}}' }

    t.ok((await tpp.authorize(changes)).searchParams.get('code'))
  })
  await t.test('user-rejects-authentication: access_denied, with state and iss', async t => {
    const { body } = await tpp.push({ state: 'mine' })
    const begun = await fetch(authorizationUrl(url, 'tpp', String(body.request_uri)), { redirect: 'manual' })
    const page = new URL(begun.headers.get('location') ?? '', url)
    const cookie = begun.headers
      .getSetCookie()
      .map(line => line.split(';', 1)[0])
      .join('; ')
    const html = await (await fetch(page, { headers: { cookie } })).text()
    const csrf = /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? ''

    const declined = await fetch(page, {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({ csrf, decision: 'deny' }),
      redirect: 'manual',
    })
    const answer = new URL(declined.headers.get('location') ?? '')

    t.equal(declined.status, 303)
    t.equal(answer.origin + answer.pathname, redirect_uri)
    t.match(Object.fromEntries(answer.searchParams), { error: 'access_denied', state: 'mine', iss: url })
  })
  await t.test('password, implicit and unknown grants are not supported', async t => {
    const fields = {
      client_id: 'tpp',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      username: 'alice',
      password: 'wonderland',
    }
    for (const grant_type of ['password', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code']) {
      const { status, body } = await post(`${url}/token`, { ...fields, grant_type, client_assertion: tpp.assertion() })
      t.equal(status, 400)
      t.equal(body.error, 'unsupported_grant_type')
    }
  })
})
