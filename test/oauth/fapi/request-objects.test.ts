import { randomUUID } from 'node:crypto'
import t from 'tap'
import { challengeOf } from '../../../src/oauth/opaque-token.ts'
import { signInAndAllow } from '../support/running.ts'
import { authorizationUrl, redirect_uri, type Twist, verifier } from './support/fapi-client.ts'
import { newKey, signJws, unsignedJws } from './support/jws.ts'
import { startFapi } from './support/running.ts'

/** Signed request objects (RFC 9101) at PAR, as the message-signing modules of the conformance suite test them. */

const inSec = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

t.test('a client that must sign its requests', async t => {
  const { url, tpp, tppKey } = await startFapi(t, {}, { require_signed_request_object: true })
  const header = { alg: 'PS256', kid: tppKey.kid, typ: 'oauth-authz-req+jwt' }
  const claims = () => ({
    iss: 'tpp',
    aud: url,
    client_id: 'tpp',
    jti: randomUUID(),
    iat: inSec(0),
    nbf: inSec(0),
    exp: inSec(300),
    response_type: 'code',
    redirect_uri,
    scope: 'accounts',
    state: 'inside',
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
  })
  const nothing = {
    response_type: undefined,
    redirect_uri: undefined,
    scope: undefined,
    state: undefined,
    code_challenge: undefined,
    code_challenge_method: undefined,
  }
  const pushObject = (twist: Twist = {}, outside: Readonly<Record<string, string | undefined>> = {}) => {
    const jws = signJws({ ...header, ...twist.header }, { ...claims(), ...twist.claims }, twist.key ?? tppKey)
    return tpp.push({ ...nothing, ...outside, request: twist.rewrite ? twist.rewrite(jws) : jws })
  }

  await t.test('the parameters inside the object count, those outside are ignored', async t => {
    const { status, body } = await pushObject({}, { state: 'outside', scope: 'payments' })
    t.equal(status, 201)

    const done = await signInAndAllow(authorizationUrl(url, 'tpp', String(body.request_uri)))

    t.equal(done.searchParams.get('state'), 'inside')
    const redeemed = await tpp.redeem(done.searchParams.get('code') ?? '')
    t.equal(redeemed.body.scope, 'accounts')
  })
  await t.test('state-only-outside-request-object-not-used', async t => {
    const { body } = await pushObject({ claims: { state: undefined } }, { state: 'outside' })

    const done = await signInAndAllow(authorizationUrl(url, 'tpp', String(body.request_uri)))

    t.ok(done.searchParams.get('code'))
    t.notOk(done.searchParams.has('state'))
  })

  const accepted: Readonly<Record<string, Twist>> = {
    'nbf 8 seconds ahead': { claims: { nbf: inSec(8), iat: inSec(8) } },
    'aud an array with the issuer in it': { claims: { aud: [url, 'https://other.example'] } },
    'typ JWT': { header: { typ: 'JWT' } },
    'no typ': { header: { typ: undefined } },
  }
  for (const [name, twist] of Object.entries(accepted)) {
    await t.test(`request object accepted: ${name}`, async t => {
      t.equal((await pushObject(twist)).status, 201)
    })
  }

  const refused: Readonly<Record<string, Twist>> = {
    'no exp': { claims: { exp: undefined } },
    'exp past': { claims: { exp: inSec(-300), nbf: inSec(-600) } },
    'exp over 60 minutes after nbf': { claims: { exp: inSec(70 * 60) } },
    'no nbf': { claims: { nbf: undefined } },
    'nbf over 60 minutes past': { claims: { nbf: inSec(-70 * 60) } },
    'nbf over 60 seconds ahead': { claims: { nbf: inSec(90) } },
    'wrong aud': { claims: { aud: 'https://other.example' } },
    'no aud': { claims: { aud: undefined } },
    'another iss': { claims: { iss: 'other' } },
    'another client_id inside': { claims: { client_id: 'other' } },
    'signed with RS256': { header: { alg: 'RS256' }, key: { ...tppKey, alg: 'RS256' } },
    'signed with a foreign key': { key: newKey('PS256') },
    'a broken signature': { rewrite: jws => jws.replace(/.$/, last => (last === 'A' ? 'B' : 'A')) },
    'not signed': { rewrite: () => unsignedJws(header, claims()) },
    'request_uri inside': { claims: { request_uri: 'urn:ietf:params:oauth:request_uri:x' } },
    'request inside': { claims: { request: 'a.b.c' } },
    'no redirect_uri': { claims: { redirect_uri: undefined } },
    'an assertion in place of a request object': { header: { typ: 'client-authentication+jwt' } },
  }
  for (const [name, twist] of Object.entries(refused)) {
    await t.test(`request object refused: ${name}`, async t => {
      const { status, body } = await pushObject(twist)

      t.equal(status, 400)
      t.match(String(body.error), /^invalid_request(_object)?$/)
    })
  }

  await t.test('unsigned-request-at-par-endpoint-fails', async t => {
    const { status, body } = await tpp.push()

    t.equal(status, 400)
    t.match(String(body.error), /^invalid_request(_object)?$/)
  })
})
