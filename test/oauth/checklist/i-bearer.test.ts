import t from 'tap'
import { createCertificates } from '../../support/certificates.ts'
import { findFreePort } from '../../support/free-port.ts'
import { headersOf } from '../../support/raw-answer.ts'
import { ask } from '../../support/raw-client.ts'
import { fieldOf, startStrictUpstream } from '../../support/recording-upstream.ts'
import { type Members, newKey, unsignedJws } from '../fapi/support/jws.ts'
import { type Fields, type Posted, send } from '../support/post.ts'
import { newProof } from '../support/proofs.ts'
import { operations, signInAndAllow, users } from '../support/running.ts'
import { claimsOf, hmacWithPublicKey, oneCharacterOff, signAccessToken, signingJwks } from './support/access-tokens.ts'
import { nowSec } from './support/assertions.ts'
import { authorizationQuery, callback, verifier } from './support/browser.ts'
import { confidentialClient } from './support/clients.ts'
import { onEachStore } from './support/each-store.ts'
import { fetchWith } from './support/secure-fetch.ts'

/** The gateway's signing key, so that a test can sign tokens that the gateway never would. */
const key = newKey('ES256', 'signing')
const { ca, server, client, selfSigned } = createCertificates(t)
const upstream = await startStrictUpstream(t)

const setup = async () => {
  const port = await findFreePort()
  const [alice] = await users()
  return {
    issuer: `https://localhost:${port}`,
    listen: `127.0.0.1:${port}`,
    tls: { cert_file: server.certFile, key_file: server.keyFile, clientCa_file: ca.certFile, clientAuth: 'optional' },
    keys: { jwks: signingJwks(key) },
    groupings: [{ name: 'OAuth', operations }, api('accounts'), api('payments'), api('legacy', true)],
    upstreams: { api: { targets: [upstream.url] } },
    clients: [
      confidentialClient('app'),
      confidentialClient('bound', { tls_client_certificate_bound_access_tokens: true }),
    ],
    login: { failures: '100000/1minute', users: [{ ...alice, sub: 'apple' }] },
  }
}

const api = (name: string, forwardAuthorization = false): object => ({
  name,
  basePath: `/${name}`,
  upstream: 'api',
  operations: [
    { method: 'GET', path: '/**', scopes: ['read'], forwardAuthorization },
    { method: 'POST', path: '/**', scopes: ['write'] },
  ],
})

onEachStore('I. Bearer tokens at the gateway', setup, async (t, { gateway, beside }) => {
  const url = gateway.url.replace('127.0.0.1', 'localhost')
  const accounts = `${url}/accounts`
  const fetch = fetchWith(t, { ca: ca.cert })
  const fetchAsClient = fetchWith(t, { ca: ca.cert, cert: client.cert, key: client.key })
  const fetchAsOther = fetchWith(t, { ca: ca.cert, cert: selfSigned.cert, key: selfSigned.key })
  const tokenFor = async (as: string, fields: Fields = {}, by = fetch): Promise<string> => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...fields }).toString()
    return String((await send(`${url}/token`, { as, body, fetch: by })).body.access_token)
  }
  const call = (token: string, scheme = 'Bearer', by = fetch, target = '/accounts/x', headers: Fields = {}) =>
    send(url + target, { method: 'GET', headers: { authorization: `${scheme} ${token}`, ...headers }, fetch: by })
  const challengeOf = ({ headers }: Posted): string => headers.get('www-authenticate') ?? ''
  const isInvalid = (answer: Posted): boolean =>
    answer.status === 401 && /^(Bearer|DPoP) realm="[^"]+", error="invalid_token"/.test(challengeOf(answer))
  /** A raw request of these header lines. */
  const get = (target: string, ...lines: readonly string[]) =>
    ask(url, [`GET ${target} HTTP/1.1`, 'Host: gw', ...lines, '', ''].join('\r\n'), 'GET', { ca: ca.cert })
  const token = await tokenFor('app')
  const bearer = `Authorization: Bearer ${token}`

  await t.test(
    'a missing token gets 401 without an error code, an invalid one gets invalid_token (RFC 6750 section 3; checklist 86)',
    async t => {
      const nothing = await send(`${accounts}/x`, { method: 'GET', type: undefined, fetch })
      t.equal(nothing.status, 401)
      t.match(challengeOf(nothing), /^Bearer realm="[^"]+"/)
      t.notMatch(challengeOf(nothing), /error=/)

      for (const bad of ['unknown', oneCharacterOff(token), `${token}A`])
        t.ok(isInvalid(await call(bad)), bad.slice(-9))
      t.equal((await call(token)).status, 200)
    },
  )

  await t.test('a missing scope gets 403 with the scope (RFC 6750 section 3; checklist 86)', async t => {
    for (const scope of ['write', 'write offline']) {
      const refused = await call(signAccessToken(key, url, { claims: { scope } }))
      t.equal(refused.status, 403)
      t.match(challengeOf(refused), /^Bearer realm="[^"]+", error="insufficient_scope", scope="read"/)
    }
    t.equal((await call(await tokenFor('app', { scope: 'read' }))).status, 200)
  })

  await t.test(
    'a duplicate or malformed token gets 400 invalid_request (RFC 6750 section 3; checklist 86)',
    async t => {
      const malformed = [
        [bearer, bearer],
        [`${bearer} ${token}`],
        ['Authorization: Bearer'],
        ['Authorization: Bearer "quoted"'],
        [bearer, 'Authorization: Basic YTpi'],
      ]
      for (const lines of malformed) {
        const answer = await get('/accounts/x', ...lines)
        t.equal(answer.status, 400, lines.join().slice(0, 30))
        t.match(headersOf(answer, 'www-authenticate')[0], /^Bearer realm="[^"]+", error="invalid_request"/)
      }
      t.equal((await get('/accounts/x', bearer)).status, 200)
    },
  )

  await t.test(
    'a token in the query is refused, and the scheme is case-insensitive (RFC 9700 section 4.3.2; checklist 87)',
    async t => {
      for (const query of [`access_token=${token}`, `a=1&access%5ftoken=${token}`, 'access_token=']) {
        t.equal((await get(`/accounts/x?${query}`)).status, 400, query.slice(0, 20))
        t.equal((await get(`/accounts/x?${query}`, bearer)).status, 400)
      }
      t.equal((await get('/accounts/x?access_tokens=1', bearer)).status, 200)
      for (const scheme of ['bearer', 'BEARER', 'bEaReR']) t.equal((await call(token, scheme)).status, 200, scheme)
      t.equal((await call(token, 'Bearerr')).status, 401)
    },
  )

  await t.test(
    'only an access token that the gateway has signed is accepted (RFC 9068 section 4; checklist 88)',
    async t => {
      const introspected = await send(`${url}/introspect`, {
        as: 'app',
        body: `token=${token}`,
        headers: { accept: 'application/token-introspection+jwt' },
        fetch,
      })
      const sign = (header: Members, claims: Members = {}): string => signAccessToken(key, url, { header, claims })
      const bad: Readonly<Record<string, string>> = {
        'typ JWT': sign({ typ: 'JWT' }),
        'typ missing': sign({ typ: undefined }),
        'typ in capitals': sign({ typ: 'AT+JWT' }),
        'alg none': unsignedJws({ typ: 'at+jwt', kid: key.kid }, claimsOf(signAccessToken(key, url))),
        'alg HS256 with the public key': hmacWithPublicKey(key, url),
        'alg of another key type': sign({ alg: 'RS256' }),
        'an unknown crit': sign({ crit: ['odd'], odd: true }),
        'a crit that is known': sign({ crit: ['exp'] }),
        'an unknown kid': sign({ kid: 'unknown' }),
        'no kid': sign({ kid: undefined }),
        'a key of its own': sign({ jwk: key.publicJwk }),
        "another's key": signAccessToken(newKey('ES256', key.kid), url),
        'an id_token': sign({ typ: 'JWT' }, { nonce: 'n', aud: 'app', auth_time: nowSec() }),
        'an introspection answer': introspected.text,
        'another issuer': sign({}, { iss: `${url}/` }),
        expired: sign({}, { exp: nowSec() - 1 }),
        'no exp': sign({}, { exp: undefined }),
        'an unknown client': sign({}, { client_id: 'apple', sub: 'apple' }),
      }
      t.match(introspected.text, /^eyJ/)
      for (const [what, text] of Object.entries(bad)) t.ok(isInvalid(await call(text)), what)
      t.equal((await call(sign({}))).status, 200)
    },
  )

  await t.test(
    'aud contains this API, or the issuer, which stands for all APIs (RFC 9068 section 4; checklist 88)',
    async t => {
      const withAud = (aud: unknown): Promise<Posted> => call(signAccessToken(key, url, { claims: { aud } }))

      for (const aud of [`${url}/payments`, `${accounts}/`, [`${url}/payments`], [], undefined, 'app']) {
        t.ok(isInvalid(await withAud(aud)), String(aud))
      }
      for (const aud of [url, accounts, [`${url}/payments`, accounts]]) t.equal((await withAud(aud)).status, 200)
      const forPayments = await tokenFor('app', { resource: `${url}/payments` })
      t.ok(isInvalid(await call(forPayments)))
      t.equal((await call(forPayments, 'Bearer', fetch, '/payments/x')).status, 200)
    },
  )

  await t.test(
    'the sub of a machine is its client_id, and no user has such a sub (RFC 9068 section 2.2; checklist 89)',
    async t => {
      t.match(claimsOf(token), { sub: 'app', client_id: 'app' })
      const end = await signInAndAllow(new URL(`${url}/authorize?${authorizationQuery()}`), fetch)
      const code = end.searchParams.get('code') ?? ''
      const grant = { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier }
      t.match(claimsOf(await tokenFor('app', grant)), { sub: 'apple', client_id: 'app' })

      const [alice] = await users()
      await t.rejects(beside({ login: { users: [{ ...alice, sub: 'app' }] } }), /sub.*client_id/)
    },
  )

  await t.test(
    'a token that is bound to a certificate is accepted only with that certificate (RFC 8705 section 3; checklist 90)',
    async t => {
      const bound = await tokenFor('bound', {}, fetchAsClient)
      t.match(claimsOf(bound), { cnf: { 'x5t#S256': /^[\w-]{43}$/ } })

      t.ok(isInvalid(await call(bound)), 'without')
      t.ok(isInvalid(await call(bound, 'Bearer', fetchAsOther)), 'with another')
      const header = { 'client-cert': `:${client.cert.replace(/-----[A-Z ]+-----|\s/g, '')}:` }
      t.ok(
        isInvalid(await call(bound, 'Bearer', fetch, '/accounts/x', header)),
        'with the certificate in a header of an untrusted client',
      )
      t.equal((await call(bound, 'DPoP', fetchAsClient)).status, 401)
      t.equal((await call(bound, 'Bearer', fetchAsClient)).status, 200)
      t.equal((await call(token, 'Bearer', fetchAsOther)).status, 200, 'an unbound token needs no certificate')
    },
  )

  await t.test(
    'a token that is bound to a certificate and a key is accepted only with both (RFC 8705 section 3; checklist 90)',
    async t => {
      const dpopKey = newKey('ES256')
      const ofToken = { uri: `${url}/token`, nowMs: Date.now() }
      const ask = (dpop: string, by = fetchAsClient): Promise<Posted> => {
        const body = new URLSearchParams({ grant_type: 'client_credentials' }).toString()
        return send(`${url}/token`, { as: 'bound', body, headers: { dpop }, fetch: by })
      }
      const nonce = (await ask(newProof(dpopKey, ofToken))).headers.get('dpop-nonce') ?? ''
      const without = await ask(newProof(dpopKey, { ...ofToken, nonce }), fetch)
      t.match(without, { status: 400, body: { error: 'invalid_request' } })
      const bound = String((await ask(newProof(dpopKey, { ...ofToken, nonce }))).body.access_token)
      const prove = (by = dpopKey) => ({
        dpop: newProof(by, { method: 'GET', uri: `${accounts}/x`, nowMs: Date.now(), nonce, token: bound }),
      })

      t.match(claimsOf(bound), { cnf: { jkt: /^[\w-]{43}$/, 'x5t#S256': /^[\w-]{43}$/ } })
      t.ok(isInvalid(await call(bound, 'DPoP', fetch, '/accounts/x', prove())), 'without the certificate')
      t.ok(isInvalid(await call(bound, 'DPoP', fetchAsOther, '/accounts/x', prove())), 'with another')
      t.ok(isInvalid(await call(bound, 'Bearer', fetchAsClient, '/accounts/x', prove())), 'in the other scheme')
      t.equal((await call(bound, 'DPoP', fetchAsClient, '/accounts/x', prove(newKey('ES256')))).status, 401)
      t.equal((await call(bound, 'DPoP', fetchAsClient)).status, 401, 'without a proof')
      t.equal((await call(bound, 'DPoP', fetchAsClient, '/accounts/x', prove())).status, 200)
    },
  )

  await t.test(
    'the upstream gets Authorization only if that is configured, and no identity header of the client (RFC 9700 section 4.13; checklist 92)',
    async t => {
      const claimed = [
        'X-Sidegate-Client-Id: evil',
        'x-sidegate-subject: evil',
        'X_Sidegate_Scope: evil',
        'X.Sidegate.Subject: evil',
        'Remote-User: evil',
        'X-Forwarded-User: evil',
        'Client-Cert: :ZXZpbA==:',
      ]

      for (const target of ['/accounts/x', '/legacy/x']) {
        t.equal((await get(target, bearer, ...claimed)).status, 200)
        const seen = upstream.requests.at(-1)
        t.equal(seen?.target, target)
        t.equal(fieldOf(seen, 'authorization'), target === '/legacy/x' ? `Bearer ${token}` : undefined)
        t.equal(fieldOf(seen, 'x-sidegate-client-id'), 'app')
        t.equal(fieldOf(seen, 'x-sidegate-subject'), 'app')
        t.equal(fieldOf(seen, 'x-sidegate-scope'), 'read write')
        t.notMatch(JSON.stringify(seen?.fields), /evil|ZXZpbA/)
      }
    },
  )
})
