import { randomUUID } from 'node:crypto'
import t from 'tap'
import { headersOf } from '../../support/raw-answer.ts'
import { ask } from '../../support/raw-client.ts'
import type { Sent, Twist } from './support/fapi-client.ts'
import { bareJwk, newKey, unsignedJws } from './support/jws.ts'
import { startFapi } from './support/running.ts'

/** DPoP proofs at the forwarded operations and at the token endpoint, as the conformance suite tests them. */

const inSec = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

t.test('a token that is bound to a key is accepted only with a right proof', async t => {
  const { url, tpp } = await startFapi(t)
  const { body } = await tpp.redeem(await tpp.newCode())
  const token = String(body.access_token)
  const call = (sent: Sent & { readonly scheme?: string } = {}) => tpp.call('/accounts/1?page=2', token, sent)
  const htu = `${url}/accounts/1`
  const { privateKey } = tpp.dpopKey

  const accepted: Readonly<Record<string, Twist>> = {
    'as it should be': {},
    'htu without query': { claims: { htu } },
    'htu with a query and a fragment': { claims: { htu: `${htu}?x=1#y` } },
    'htu with scheme and host in capitals': { claims: { htu: htu.replace('http', 'HTTP') } },
    'iat 10 seconds ahead': { claims: { iat: inSec(8) } },
    'iat 10 seconds ago': { claims: { iat: inSec(-10) } },
    'nbf now and exp in five minutes': { claims: { nbf: inSec(0), exp: inSec(300) } },
    'unknown members': { header: { odd: 'x' }, claims: { odd: 'y' } },
  }
  for (const [name, twist] of Object.entries(accepted)) {
    await t.test(`proof accepted: ${name}`, async t => {
      t.equal((await call({ proof: twist })).status, 200)
    })
  }
  await t.test('access-token-type-header-case-sensitivity: the scheme is case-insensitive', async t => {
    t.equal((await call({ scheme: 'dPoP' })).status, 200)
  })

  const stranger = newKey('ES256')
  const refused: Readonly<Record<string, Twist>> = {
    'not a JWT': { rewrite: () => 'proof' },
    'typ missing': { header: { typ: undefined } },
    'typ of another kind': { header: { typ: 'JWT' } },
    'alg missing': { header: { alg: undefined } },
    'alg none': {
      rewrite: () =>
        unsignedJws(
          { typ: 'dpop+jwt', jwk: bareJwk(tpp.dpopKey) },
          { jti: randomUUID(), htm: 'GET', htu, iat: inSec(0) },
        ),
    },
    'alg symmetric': { header: { alg: 'HS256' } },
    'alg RS256': { key: newKey('RS256') },
    'jwk missing': { header: { jwk: undefined } },
    'jwk with the private part': { header: { jwk: privateKey.export({ format: 'jwk' }) } },
    'jwk of the kty constructor': { header: { jwk: { ...bareJwk(tpp.dpopKey), kty: 'constructor' } } },
    'jwk of the kty __proto__': { header: { jwk: { ...bareJwk(tpp.dpopKey), kty: '__proto__' } } },
    'jwk symmetric': { header: { jwk: { kty: 'oct', k: 'c2VjcmV0' } } },
    'jti missing': { claims: { jti: undefined } },
    'jti empty': { claims: { jti: '' } },
    'htm missing': { claims: { htm: undefined } },
    'htm of another method': { claims: { htm: 'PUT' } },
    'htm in lower case': { claims: { htm: 'get' } },
    'htu missing': { claims: { htu: undefined } },
    'htu of another path': { claims: { htu: `${url}/accounts/2` } },
    'htu of another host': { claims: { htu: 'https://other.example/accounts/1' } },
    'iat missing': { claims: { iat: undefined } },
    'iat an hour ahead': { claims: { iat: inSec(3600) } },
    'iat an hour ago': { claims: { iat: inSec(-3600) } },
    'ath missing': { claims: { ath: undefined } },
    'ath of another token': { claims: { ath: 'A'.repeat(43) } },
    'a nonce that is not ours': { claims: { nonce: 'AAAA' } },
    'another key': { key: stranger },
    'a signature by another key than the header shows': { header: { jwk: bareJwk(stranger) } },
    'a broken signature': {
      rewrite: jws => jws.replace(/\.([^.])([^.]*)$/, (_, first, rest) => `.${first === 'A' ? 'B' : 'A'}${rest}`),
    },
  }
  for (const [name, twist] of Object.entries(refused)) {
    await t.test(`proof refused: ${name}`, async t => {
      const { status, headers } = await call({ proof: twist })

      t.equal(status, 401)
      t.match(headers.get('www-authenticate'), /DPoP .*error="(invalid_dpop_proof|invalid_token|use_dpop_nonce)"/)
    })
  }

  await t.test('a proof is accepted once', async t => {
    const proof: Twist = { claims: { jti: randomUUID() } }

    t.equal((await call({ proof })).status, 200)
    t.equal((await call({ proof })).status, 401)
  })
  await t.test(
    'two right proofs are refused, in two fields or in one, and each one is still accepted alone',
    async t => {
      const nonce = (await call({ proof: { claims: { nonce: 'AAAA' } } })).headers.get('dpop-nonce') ?? ''
      const newProof = () => tpp.proof('GET', htu, { claims: { nonce } }, token)
      const [first, second] = [newProof(), newProof()]
      const send = (...values: readonly string[]) => {
        const lines = ['GET /accounts/1 HTTP/1.1', 'Host: gw.test', `Authorization: DPoP ${token}`]
        return ask(url, [...lines, ...values.map(value => `DPoP: ${value}`), '', ''].join('\r\n'))
      }

      for (const values of [[first, first], [first, second], [`${first}, ${second}`]]) {
        const refused = await send(...values)
        t.equal(refused.status, 401)
        t.match(headersOf(refused, 'www-authenticate').join(), /DPoP .*error="invalid_dpop_proof"/)
      }
      t.equal((await send(first)).status, 200)
      t.equal((await send(second)).status, 200)
    },
  )
  await t.test('a missing proof gets 401, and so does the token as Bearer', async t => {
    t.equal((await call({ proof: 'none' })).status, 401)
    t.equal((await call({ proof: 'none', scheme: 'Bearer' })).status, 401)
    t.equal((await call({ scheme: 'Bearer' })).status, 401)
  })
  await t.test('a right proof is still accepted after the refusals', async t => {
    t.equal((await call()).status, 200)
  })

  await t.test('at the token endpoint a wrong proof is an invalid_dpop_proof', async t => {
    for (const twist of [
      { claims: { htm: 'GET' } },
      { claims: { htu: `${url}/par` } },
      { claims: { iat: inSec(-3600) } },
    ]) {
      const { status, body } = await tpp.token({ grant_type: 'client_credentials' }, { proof: twist })
      t.equal(status, 400)
      t.equal(body.error, 'invalid_dpop_proof')
    }
  })
})
