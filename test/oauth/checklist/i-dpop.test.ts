import { randomUUID } from 'node:crypto'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { startStrictUpstream } from '../../support/recording-upstream.ts'
import { bareJwk, type Members, newKey, signJws, type TestKey, unsignedJws } from '../fapi/support/jws.ts'
import { type Fields, type Posted, post, send } from '../support/post.ts'
import { newProof, type ProofTwist } from '../support/proofs.ts'
import { operations } from '../support/running.ts'
import { claimsOf, headerOf } from './support/access-tokens.ts'
import { nowSec } from './support/assertions.ts'
import { callback, newCode, verifier } from './support/browser.ts'
import { confidentialClient, publicClient } from './support/clients.ts'
import { onEachStore } from './support/each-store.ts'
import { workersAt } from './support/workers-at.ts'

const upstream = await startStrictUpstream(t)

const setup = () => ({
  workers: 4,
  groupings: [
    { name: 'OAuth', operations },
    {
      name: 'Accounts',
      basePath: '/accounts',
      upstream: 'accounts',
      operations: [{ method: 'GET', path: '/**', scopes: ['read'] }],
    },
  ],
  upstreams: { accounts: { targets: [upstream.url] } },
  clients: [confidentialClient('app'), publicClient('spa')],
})

const grant = { grant_type: 'client_credentials' }
const key = newKey('ES256')
const stranger = newKey('ES256')

/** A wrong proof for the right request with a fresh nonce: the changed parts, or the whole proof. */
type Wrong = ProofTwist | Remake
type Remake = (header: Members, claims: Members) => string

const remade = (right: string, remake: Remake): string => remake(headerOf(right), claimsOf(right))

const wrongProofs: Readonly<Record<string, Wrong>> = {
  'another htm': { claims: { htm: 'PUT' } },
  'htm in lower case': { claims: { htm: 'post' } },
  'no htm': { claims: { htm: undefined } },
  'another htu': { claims: { htu: 'https://other.example/' } },
  'no htu': { claims: { htu: undefined } },
  'a stale iat': { claims: { iat: nowSec() - 300 } },
  'an iat far ahead': { claims: { iat: nowSec() + 300 } },
  'no iat': { claims: { iat: undefined } },
  'no jti': { claims: { jti: undefined } },
  'typ JWT': { header: { typ: 'JWT' } },
  'no jwk': { header: { jwk: undefined } },
  'the private key in the header': { header: { jwk: key.privateKey.export({ format: 'jwk' }) } },
  'a symmetric key in the header': { header: { jwk: { kty: 'oct', k: 'c2VjcmV0' } } },
  'alg HS256': { header: { alg: 'HS256' } },
  'alg none': (header, claims) => unsignedJws(header, claims),
  'alg RS256': (header, claims) => {
    const rsa = newKey('RS256')
    return signJws({ ...header, alg: 'RS256', jwk: bareJwk(rsa) }, claims, rsa)
  },
  'the signature of another key': (header, claims) => signJws(header, claims, stranger),
  'not a JWT': () => 'a.b.c',
}

onEachStore('I. DPoP', setup, async (t, { url, gateway, beside }) => {
  const tokenUri = `${url}/token`
  const target = `${url}/accounts/x`
  const ask = (dpop: string, at = url): Promise<Posted> => post(`${at}/token`, grant, 'app', { dpop })
  const proofOf = (by: TestKey, nonce: string | undefined, twist?: ProofTwist): string =>
    newProof(by, { uri: tokenUri, nowMs: Date.now(), nonce }, twist)
  const nonce = (await ask(proofOf(key, undefined))).headers.get('dpop-nonce') ?? ''
  const issue = async (by: TestKey): Promise<string> => String((await ask(proofOf(by, nonce))).body.access_token)

  const token = await issue(key)
  const call = (dpop: string | undefined, authorization = `DPoP ${token}`, at = url): Promise<Posted> =>
    send(`${at}/accounts/x`, { method: 'GET', headers: { authorization, ...(dpop !== undefined && { dpop }) } })
  const proofOfCall = (twist?: ProofTwist, by = key, given: string | undefined = nonce): string =>
    newProof(by, { method: 'GET', uri: target, nowMs: Date.now(), nonce: given, token }, twist)
  const challengeOf = ({ headers }: Posted): string => headers.get('www-authenticate') ?? ''

  await t.test(
    'at the token endpoint a wrong proof is an invalid_dpop_proof (RFC 9449 section 4.3; checklist 91)',
    async t => {
      for (const [fault, wrong] of Object.entries(wrongProofs)) {
        const dpop = typeof wrong === 'function' ? remade(proofOf(key, nonce), wrong) : proofOf(key, nonce, wrong)
        const refused = await ask(dpop)
        t.match(refused, { status: 400, body: { error: 'invalid_dpop_proof', access_token: undefined } }, fault)
        t.notOk(refused.text.includes(dpop.slice(-20)), 'the response does not repeat the proof')
      }
      t.match(await ask(proofOf(key, nonce, { claims: { htu: `${tokenUri}/` } })), { status: 400 })
      for (const twist of [{}, { claims: { htu: `${tokenUri}?a=b#c` } }, { claims: { iat: nowSec() + 8 } }]) {
        t.match(await ask(proofOf(key, nonce, twist)), { status: 200, body: { token_type: 'DPoP' } })
      }
    },
  )

  await t.test('at the API a wrong proof gets 401 invalid_dpop_proof (RFC 9449 section 4.3; checklist 91)', async t => {
    const wrongs: Readonly<Record<string, Wrong>> = {
      ...wrongProofs,
      'htm of another method': { claims: { htm: 'POST' } },
      'htu of another path': { claims: { htu: `${target}y` } },
      'no ath': { claims: { ath: undefined } },
      'ath of another token': { claims: { ath: 'A'.repeat(43) } },
    }
    for (const [fault, wrong] of Object.entries(wrongs)) {
      const dpop = typeof wrong === 'function' ? remade(proofOfCall(), wrong) : proofOfCall(wrong)
      const refused = await call(dpop)
      t.equal(refused.status, 401, fault)
      t.match(challengeOf(refused), /^DPoP .*error="invalid_dpop_proof".*algs="ES256 PS256 EdDSA"/, fault)
    }
    t.match(challengeOf(await call(proofOfCall({}, stranger))), /error="invalid_dpop_proof"/, 'another key')
    t.match(challengeOf(await call(undefined)), /error="invalid_dpop_proof"/, 'no proof')
    t.equal((await call(proofOfCall())).status, 200)
    t.equal((await call(proofOfCall(), `dPoP ${token}`)).status, 200, 'the scheme is case-insensitive')
  })

  await t.test(
    'a request without a fresh nonce gets use_dpop_nonce and a nonce (RFC 9449 section 4.3; checklist 91)',
    async t => {
      for (const stale of [undefined, 'A'.repeat(43), `${nonce}A`]) {
        const refused = await ask(proofOf(key, stale))
        t.match(refused, { status: 400, body: { error: 'use_dpop_nonce' } })
        t.equal(refused.headers.get('cache-control'), 'no-store')
        const given = refused.headers.get('dpop-nonce') ?? ''
        t.match(await ask(proofOf(key, given)), { status: 200 })

        const atApi = await send(target, {
          method: 'GET',
          headers: {
            authorization: `DPoP ${token}`,
            dpop: newProof(key, { method: 'GET', uri: target, nowMs: Date.now(), nonce: stale, token }),
          },
        })
        t.equal(atApi.status, 401)
        t.match(challengeOf(atApi), /^DPoP .*error="use_dpop_nonce"/)
        t.equal((await call(proofOfCall({}, key, atApi.headers.get('dpop-nonce') ?? ''))).status, 200)
      }
    },
  )

  await t.test(
    'a proof is accepted once over all workers and replicas (RFC 9449 section 4.3; checklist 91)',
    async t => {
      const replica = await beside()
      const dpop = proofOf(key, nonce)
      const dpopOfCall = proofOfCall()
      const many = <T>(act: (at: string) => Promise<T>): Promise<readonly T[]> =>
        Promise.all(Array.from({ length: 20 }, (_, n) => act(n % 4 === 0 ? replica.url : url)))

      const asked = await many(at => ask(dpop, at))
      const called = await many(at => call(dpopOfCall, undefined, at))

      t.equal(asked.filter(({ status }) => status === 200).length, 1)
      t.equal(asked.filter(({ body }) => body.error === 'invalid_dpop_proof').length, 19)
      t.equal(called.filter(({ status }) => status === 200).length, 1)
      t.equal(called.filter(answer => challengeOf(answer).includes('invalid_dpop_proof')).length, 19)
      await eventually(() => workersAt(gateway, '/accounts/x') > 1)
    },
  )

  await t.test('a jti is used up only for its own key (RFC 9449 section 4.3; checklist 91)', async t => {
    const twist = { claims: { jti: randomUUID() } }

    t.match(await ask(proofOf(key, nonce, twist)), { status: 200 })
    t.match(await ask(proofOf(key, nonce, twist)), { status: 400, body: { error: 'invalid_dpop_proof' } })
    t.match(await ask(proofOf(stranger, nonce, twist)), { status: 200 })
  })

  await t.test(
    'a token that is bound to a key is refused as a bearer token, and the other way round (RFC 9449 section 4.3; checklist 91)',
    async t => {
      for (const dpop of [undefined, proofOfCall()]) {
        const asBearer = await call(dpop, `Bearer ${token}`)
        t.equal(asBearer.status, 401)
        t.match(challengeOf(asBearer), /^Bearer .*error="invalid_token"/)
      }
      const plain = String((await post(tokenUri, grant, 'app')).body.access_token)
      const dpop = newProof(key, { method: 'GET', uri: target, nowMs: Date.now(), nonce, token: plain })
      const asBound = await call(dpop, `DPoP ${plain}`)
      t.equal(asBound.status, 401)
      t.match(challengeOf(asBound), /^DPoP .*error="invalid_token"/)
      t.equal((await call(undefined, `Bearer ${plain}`)).status, 200)
    },
  )

  await t.test(
    '20 parallel refreshes with a key yield one lineage, and another key is refused (RFC 9700 section 4.14.2, RFC 9449 section 5; checklist 82, 85)',
    async t => {
      const spa = { client_id: 'spa' }
      const ask = (fields: Fields, by = key): Promise<Posted> =>
        post(tokenUri, { ...spa, ...fields }, undefined, { dpop: proofOf(by, nonce) })
      const code = await newCode(url, spa)
      const redemption = { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier }
      const { body } = await ask(redemption)
      const refresh = (token: unknown, by?: TestKey) =>
        ask({ grant_type: 'refresh_token', refresh_token: String(token) }, by)

      const replies = await Promise.all(Array.from({ length: 20 }, () => refresh(body.refresh_token)))

      t.ok(replies.every(({ status, body }) => status === 200 && body.token_type === 'DPoP'))
      const [successor, ...others] = new Set(replies.map(({ body }) => body.refresh_token))
      t.same(others, [])
      for (const token of [body.refresh_token, successor]) {
        t.match(await refresh(token, stranger), { status: 400, body: { error: 'invalid_grant' } })
      }
      t.match(await refresh(successor), { status: 200 })
    },
  )

  await t.test(
    'proofs and bound tokens do not reach the upstream (RFC 9449 section 4.3, RFC 9700 section 4.13; checklist 91, 92)',
    async t => {
      t.equal((await call(proofOfCall())).status, 200)

      const seen = upstream.requests.at(-1)
      t.equal(seen?.target, '/accounts/x')
      t.notMatch(JSON.stringify(seen?.fields), /eyJ/)
      t.notMatch(gateway.output.join('\n'), /eyJ/)
    },
  )
})
