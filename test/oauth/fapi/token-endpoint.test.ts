import { calculateJwkThumbprint } from 'jose'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { post } from '../support/post.ts'
import { signInAndAllow } from '../support/running.ts'
import { authorizationUrl, redirect_uri, verifier } from './support/fapi-client.ts'
import { newKey } from './support/jws.ts'
import { startFapi } from './support/running.ts'

/** The token endpoint and refresh tokens, as the modules of the FAPI 2.0 conformance suite test them. */

t.test('a FAPI 2.0 client redeems its codes', async t => {
  const { url, tpp, other } = await startFapi(t)

  await t.test('happy-flow: a bound token that the API accepts, and a refresh token without rotation', async t => {
    const { status, body, headers } = await tpp.redeem(await tpp.newCode())

    t.equal(status, 200)
    t.match(body, { token_type: 'DPoP', scope: 'accounts', access_token: String, refresh_token: String })
    t.equal(headers.get('cache-control'), 'no-store')
    t.equal((await tpp.call('/accounts', String(body.access_token))).status, 200)
    for (let use = 0; use < 2; use++) {
      const refreshed = await tpp.token({ grant_type: 'refresh_token', refresh_token: String(body.refresh_token) })
      t.equal(refreshed.status, 200)
      t.equal(refreshed.body.refresh_token ?? body.refresh_token, body.refresh_token, 'refresh tokens are not rotated')
    }
  })

  await t.test('authorization-code-is-bound-to-client, and another client does not spend it', async t => {
    const code = await tpp.newCode()

    const { status, body } = await other.redeem(code)

    t.equal(status, 400)
    t.equal(body.error, 'invalid_grant')
    t.equal((await tpp.redeem(code)).status, 200)
  })

  await t.test(
    'attempt-reuse-authorization-code: the second redemption is refused and the first token is revoked',
    async t => {
      const code = await tpp.newCode()
      const first = await tpp.redeem(code)
      t.equal(first.status, 200)

      const second = await tpp.redeem(code)

      t.equal(second.status, 400)
      t.equal(second.body.error, 'invalid_grant')
      await eventually(async () => (await tpp.call('/accounts', String(first.body.access_token))).status === 401)
      const refreshed = await tpp.token({
        grant_type: 'refresh_token',
        refresh_token: String(first.body.refresh_token),
      })
      t.equal(refreshed.body.error, 'invalid_grant')
    },
  )

  const wrongRedemptions: Readonly<Record<string, Record<string, string | undefined>>> = {
    'pkce-code-verifier-required': { code_verifier: undefined },
    'incorrect-pkce-code-verifier': { code_verifier: verifier.replace('d', 'e') },
    'another-redirect-uri': { redirect_uri: `${redirect_uri}2` },
    'redirect-uri-left-out': { redirect_uri: undefined },
  }
  for (const [name, changes] of Object.entries(wrongRedemptions)) {
    await t.test(`redemption refused: ${name}`, async t => {
      const { status, body } = await tpp.redeem(await tpp.newCode(), changes)

      t.equal(status, 400)
      t.match(String(body.error), /^invalid_(grant|request)$/)
    })
  }

  await t.test('client-id-in-token-endpoint: another client_id than that of the assertion is refused', async t => {
    const { status, body } = await tpp.redeem(await tpp.newCode(), { client_id: 'other' })

    t.ok(status === 400 || status === 401)
    t.match(String(body.error), /^invalid_(request|client|grant)$/)
  })

  await t.test('client-assertion-in-token-endpoint: without an assertion no token is issued', async t => {
    const { status, body } = await tpp.redeem(await tpp.newCode(), {
      client_assertion: undefined,
      client_assertion_type: undefined,
    })

    t.equal(status, 401)
    t.equal(body.error, 'invalid_client')
  })

  await t.test('a client with a key cannot authenticate with a secret', async t => {
    const fields = { grant_type: 'client_credentials', client_id: 'tpp', client_secret: 'tpp-secret' }

    const { status, body } = await post(`${url}/token`, fields)

    t.equal(status, 401)
    t.equal(body.error, 'invalid_client')
  })

  await t.test('holder-of-key-required: without a proof there is no token', async t => {
    const { status, body } = await tpp.redeem(await tpp.newCode(), {}, { proof: 'none' })

    t.equal(status, 400)
    t.match(String(body.error), /^invalid_(request|dpop_proof)$/)
  })

  await t.test('dpop-auth-code-binding: a code that was requested with dpop_jkt is only for that key', async t => {
    const dpop_jkt = await calculateJwkThumbprint(tpp.dpopKey.publicJwk)

    const wrong = await tpp.redeem(await tpp.newCode({ dpop_jkt }), {}, { proof: { key: newKey() } })
    const right = await tpp.redeem(await tpp.newCode({ dpop_jkt }))

    t.equal(wrong.status, 400)
    t.match(String(wrong.body.error), /^invalid_(grant|dpop_proof)$/)
    t.equal(right.status, 200)
  })

  await t.test('dpop-proof-at-par-endpoint-binding: a proof at PAR binds the code to its key', async t => {
    const { status, body } = await tpp.push({}, { proof: {} })
    t.equal(status, 201)
    const done = await signInAndAllow(authorizationUrl(url, 'tpp', String(body.request_uri)))
    const code = done.searchParams.get('code') ?? ''

    t.equal((await tpp.redeem(code, {}, { proof: { key: newKey() } })).status, 400)
    t.equal((await tpp.redeem(code)).status, 200)
  })

  await t.test('mismatched-dpop-jkt: a proof at PAR with another key than dpop_jkt is refused', async t => {
    const { status, body } = await tpp.push({ dpop_jkt: 'A'.repeat(43) }, { proof: {} })

    t.equal(status, 400)
    t.match(String(body.error), /^invalid_(request|dpop_proof)$/)
  })

  await t.test('a refresh token of one client is refused from another', async t => {
    const { body } = await tpp.redeem(await tpp.newCode())
    const fields = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }

    t.equal((await other.token(fields)).body.error, 'invalid_grant')
    t.equal((await tpp.token(fields)).status, 200)
  })

  await t.test('20 concurrent refreshes yield one lineage, and no request fails', async t => {
    const { body } = await tpp.redeem(await tpp.newCode())
    const fields = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }

    const replies = await Promise.all(Array.from({ length: 20 }, () => tpp.token(fields)))

    t.same(new Set(replies.map(({ status }) => status)), new Set([200]))
  })

  await t.test('client_credentials: a machine gets a bound token too', async t => {
    const { status, body } = await tpp.token({ grant_type: 'client_credentials', scope: 'accounts' })

    t.equal(status, 200)
    t.equal(body.token_type, 'DPoP')
    const introspected = await post(`${url}/introspect`, {
      token: String(body.access_token),
      client_id: 'tpp',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: tpp.assertion(),
    })
    t.match(introspected.body, { active: true, token_type: 'DPoP', cnf: { jkt: String } })
  })
})

t.test('attempt-to-use-expired-auth-code', async t => {
  const { tpp } = await startFapi(t, { tokens: { code: { lifetime: '1s' } } })
  const code = await tpp.newCode()
  const late = Date.now() + 1_000
  await eventually(async () => Date.now() > late)

  const { status, body } = await tpp.redeem(code)

  t.equal(status, 400)
  t.equal(body.error, 'invalid_grant')
})
