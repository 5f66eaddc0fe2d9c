import { randomUUID } from 'node:crypto'
import t from 'tap'
import { challengeOf } from '../../../src/oauth/opaque-token.ts'
import { eventually } from '../../support/eventually.ts'
import { signInAndAllow } from '../support/running.ts'
import { authorizationUrl, redirect_uri, type Sent, verifier } from './support/fapi-client.ts'
import { newKey } from './support/jws.ts'
import { startFapi } from './support/running.ts'

/** Pushed authorization requests and client assertions, as the modules of the FAPI 2.0 conformance suite test them. */

const inSec = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

t.test('a FAPI 2.0 client pushes its authorization requests', async t => {
  const { url, tpp, other, tppKey } = await startFapi(t)

  await t.test('par-ensure-happy: the response is 201 with a request_uri and its lifetime', async t => {
    const { status, body, headers } = await tpp.push()

    t.equal(status, 201)
    t.match(body.request_uri, /^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{22,}$/)
    t.ok(Number.isInteger(body.expires_in) && Number(body.expires_in) > 5 && Number(body.expires_in) < 600)
    t.equal(headers.get('cache-control'), 'no-store')
  })

  const accepted: Readonly<Record<string, Sent>> = {
    'iat-nbf-8-seconds-in-the-future': { assertion: { claims: { iat: inSec(8), nbf: inSec(8) } } },
    'exp-3-seconds-ago-is-within-the-skew': { assertion: { claims: { exp: inSec(-3) } } },
    'a-claim-that-nobody-knows': { assertion: { claims: { purpose: 'none' } } },
  }
  for (const [name, sent] of Object.entries(accepted)) {
    await t.test(`client assertion accepted: ${name}`, async t => {
      t.equal((await tpp.push({}, sent)).status, 201)
    })
  }

  const once = randomUUID()
  const refused: Readonly<Record<string, Sent>> = {
    'iat-nbf-over-60-seconds-in-the-future': { assertion: { claims: { iat: inSec(75), nbf: inSec(75) } } },
    'nbf-over-60-seconds-in-the-future': { assertion: { claims: { nbf: inSec(75) } } },
    'exp-5-minutes-in-the-past': { assertion: { claims: { exp: inSec(-300), iat: inSec(-360) } } },
    'no-exp': { assertion: { claims: { exp: undefined } } },
    'no-sub': { assertion: { claims: { sub: undefined } } },
    'no-iss': { assertion: { claims: { iss: undefined } } },
    'no-jti': { assertion: { claims: { jti: undefined } } },
    'another-sub': { assertion: { claims: { sub: 'other' } } },
    'another-iss': { assertion: { claims: { iss: 'other' } } },
    'par-endpoint-as-audience': { assertion: { claims: { aud: `${url}/par` } } },
    'token-endpoint-as-audience': { assertion: { claims: { aud: `${url}/token` } } },
    'issuer-in-an-array-as-audience': { assertion: { claims: { aud: [url] } } },
    'endpoint-in-an-array-as-audience': { assertion: { claims: { aud: [`${url}/par`] } } },
    'issuer-with-a-slash-as-audience': { assertion: { claims: { aud: `${url}/` } } },
    'wrong-audience': { assertion: { claims: { aud: 'https://other.example' } } },
    'no-audience': { assertion: { claims: { aud: undefined } } },
    'signed-with-RS256': { assertion: { header: { alg: 'RS256' }, key: { ...tppKey, alg: 'RS256' } } },
    'signed-with-a-foreign-key': { assertion: { key: newKey('PS256') } },
    'signature-broken': { assertion: { rewrite: jws => jws.replace(/.$/, last => (last === 'A' ? 'B' : 'A')) } },
    'signature-cut-off': { assertion: { header: { alg: 'none' }, rewrite: jws => jws.replace(/[^.]+$/, '') } },
    'unknown-crit': { assertion: { header: { crit: ['odd'], odd: true } } },
  }
  for (const [name, sent] of Object.entries(refused)) {
    await t.test(`client assertion refused: ${name}`, async t => {
      const { status, body } = await tpp.push({}, sent)

      t.equal(status, 401)
      t.match(body, { error: 'invalid_client', error_description: String })
    })
  }
  await t.test('client assertion refused: used-twice', async t => {
    const sent: Sent = { assertion: { claims: { jti: once } } }

    t.equal((await tpp.push({}, sent)).status, 201)
    t.equal((await tpp.push({}, sent)).status, 401)
  })

  await t.test('ensure-client-id-matches: a request with the client_id of another client is refused', async t => {
    const { status, body } = await tpp.push({ client_id: 'other' })

    t.ok(status === 400 || status === 401)
    t.match(String(body.error), /^invalid_(request|client)$/)
  })

  const badRequests: Readonly<Record<string, readonly [Record<string, string | undefined>, string]>> = {
    'pkce-required': [{ code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    'plain-pkce-rejected': [{ code_challenge: verifier, code_challenge_method: 'plain' }, 'invalid_request'],
    'pkce-method-absent': [{ code_challenge_method: undefined }, 'invalid_request'],
    'redirect-uri-required': [{ redirect_uri: undefined }, 'invalid_request'],
    'registered-redirect-uri': [{ redirect_uri: `${redirect_uri}/else` }, 'invalid_request'],
    'request-uri-in-par': [{ request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'invalid_request'],
    'response-type-token': [{ response_type: 'token' }, 'unsupported_response_type'],
    'response-type-code-id-token': [{ response_type: 'code id_token' }, 'unsupported_response_type'],
    'unknown-scope': [{ scope: 'accounts other' }, 'invalid_scope'],
    'unknown-resource': [{ resource: 'https://nowhere.example' }, 'invalid_target'],
  }
  for (const [name, [changes, error]] of Object.entries(badRequests)) {
    await t.test(`pushed request refused: ${name}`, async t => {
      const { status, body, headers } = await tpp.push(changes)

      t.equal(status, 400)
      t.equal(body.error, error)
      t.equal(headers.get('cache-control'), 'no-store')
    })
  }

  await t.test('reject-invalid-http-verb: GET and PUT get 405', async t => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, headers } = await fetch(`${url}/par`, { method })
      t.equal(status, 405, method)
      t.equal(headers.get('allow'), 'POST')
    }
  })

  await t.test('request-uri-is-bound-to-client: another client cannot use it', async t => {
    const { body } = await tpp.push()

    const answer = await fetch(authorizationUrl(url, other.client_id, String(body.request_uri)), { redirect: 'manual' })

    t.equal(answer.status, 400)
    t.equal(answer.headers.get('location'), null)
  })

  await t.test(
    'reused-request-uri-before-authentication-completion: a reload works until the user has finished',
    async t => {
      const { body } = await tpp.push()
      const place = authorizationUrl(url, 'tpp', String(body.request_uri))

      for (let visit = 0; visit < 3; visit++) t.equal((await fetch(place, { redirect: 'manual' })).status, 303)
    },
  )

  await t.test('attempt-reuse-request-uri: after completion it is refused', async t => {
    const { body } = await tpp.push()
    const place = authorizationUrl(url, 'tpp', String(body.request_uri))
    const done = await signInAndAllow(place)
    t.ok(done.searchParams.get('code'))

    const again = await fetch(place, { redirect: 'manual' })

    t.equal(again.status, 400)
    t.equal(again.headers.get('location'), null)
  })

  await t.test(
    'par-without-duplicate-parameters: client_id and request_uri are sufficient, other parameters are ignored',
    async t => {
      const { body } = await tpp.push({ state: 'pushed' })
      const place = authorizationUrl(url, 'tpp', String(body.request_uri))
      place.searchParams.set('state', 'changed on the way')
      place.searchParams.set('redirect_uri', 'https://evil.example/')

      const done = await signInAndAllow(place)

      t.equal(done.origin + done.pathname, redirect_uri)
      t.equal(done.searchParams.get('state'), 'pushed')
    },
  )

  await t.test('ensure-unsigned-authorization-request-without-using-par-fails', async t => {
    const direct = new URL(`${url}/authorize`)
    direct.search = new URLSearchParams({
      client_id: 'tpp',
      response_type: 'code',
      redirect_uri,
      scope: 'accounts',
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
    }).toString()

    const { status, headers } = await fetch(direct, { redirect: 'manual' })
    const location = headers.get('location') ?? ''

    t.ok(status === 400 || (location.startsWith(redirect_uri) && location.includes('error=invalid_request')), location)
  })
})

t.test('an expired request_uri is refused', async t => {
  const { url, tpp } = await startFapi(t, { tokens: { par: { lifetime: '1s' } } })
  const { body } = await tpp.push()
  const place = authorizationUrl(url, 'tpp', String(body.request_uri))

  await eventually(async () => (await fetch(place, { redirect: 'manual' })).status === 400)

  t.equal((await fetch(place, { redirect: 'manual' })).headers.get('location'), null)
})
