import { X509Certificate } from 'node:crypto'
import t, { type Test } from 'tap'
import { createCertificates } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'
import { fieldOf, startStrictUpstream } from '../../support/recording-upstream.ts'
import { newKey, unsignedJws } from '../fapi/support/jws.ts'
import { basic } from '../support/authorization-server.ts'
import { assertionFields } from '../support/client-keys.ts'
import { type Fields, type Posted, send } from '../support/post.ts'
import { assert, assertionClaims, hmacWithPublicKey, key, nowSec, otherKey } from './support/assertions.ts'
import { onEachStore } from './support/each-store.ts'
import { type Connecting, fetchWith } from './support/secure-fetch.ts'
import { workersAt } from './support/workers-at.ts'

const certificates = createCertificates(t)
const { ca, server, client, selfSigned } = certificates
const stranger = certificates.issueSelfSigned('stranger')
const upstream = await startStrictUpstream(t)

/** A proxy at 127.0.0.2 terminates TLS for clients; all other clients connect by TLS from 127.0.0.1. */
const setup = async () => {
  const port = await findFreePort()
  return {
    issuer: `https://localhost:${port}`,
    listen: `127.0.0.1:${port}`,
    workers: 4,
    tls: { cert_file: server.certFile, key_file: server.keyFile, clientCa_file: ca.certFile, clientAuth: 'optional' },
    trustedProxies: ['127.0.0.2'],
    clientCertificateHeader: 'client-cert',
    groupings: [
      {
        name: 'OAuth',
        operations: ['token', 'par', 'introspect', 'revoke'].map(serves => ({
          method: 'POST',
          path: `/${serves}`,
          serves,
        })),
      },
      {
        name: 'Echo',
        upstream: 'echo',
        operations: [{ method: 'GET', path: '/echo', credentials: 'none', plan: 'none' }],
      },
    ],
    upstreams: { echo: { targets: [upstream.url] } },
    login: { failures: '100000/1minute' },
    clients,
  }
}

const registered = (client_id: string, changes: object): object => ({
  client_id,
  grant_types: ['client_credentials'],
  scope: 'read',
  ...changes,
})

const certificateJwk = {
  ...new X509Certificate(selfSigned.cert).publicKey.export({ format: 'jwk' }),
  x5c: [new X509Certificate(selfSigned.cert).raw.toString('base64')],
}

const clients = [
  registered('basic', { client_secret: 'basic-secret' }),
  registered('jwt', {
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'ES256',
    jwks: { keys: [key.publicJwk, otherKey.publicJwk] },
  }),
  registered('other-jwt', { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key.publicJwk] } }),
  registered('tls', { token_endpoint_auth_method: 'tls_client_auth', tls_client_auth_san_dns: 'client.example' }),
  registered('self-signed', {
    token_endpoint_auth_method: 'self_signed_tls_client_auth',
    jwks: { keys: [certificateJwk] },
  }),
]

const grant = { grant_type: 'client_credentials' }
const success = { status: 200, body: { token_type: 'Bearer' } }
const invalidClient = { status: 401, body: { error: 'invalid_client' } }
/** A way to send a form to this gateway. */
const sender = (t: Test, url: string, shown: Partial<Connecting> = {}) => {
  const fetch = fetchWith(t, { ca: ca.cert, ...shown })
  return (fields: Fields, headers: Fields = {}, path = '/token'): Promise<Posted> =>
    send(url + path, { fetch, headers, body: new URLSearchParams({ ...grant, ...fields }).toString() })
}

const clientCert = `:${new X509Certificate(client.cert).raw.toString('base64')}:`

onEachStore('B. Assertions and certificates of clients', setup, async (t, { gateway }) => {
  const url = gateway.url.replace('127.0.0.1', 'localhost')
  const ask = sender(t, url)
  const askAsClient = sender(t, url, { cert: client.cert, key: client.key })
  const askAsSelfSigned = sender(t, url, { cert: selfSigned.cert, key: selfSigned.key })
  const askAsStranger = sender(t, url, { cert: stranger.cert, key: stranger.key })
  const askAsProxy = sender(t, url, { localAddress: '127.0.0.2' })
  const asserted = (assertion: string, fields: Fields = {}, path = '/token') =>
    ask({ ...assertionFields(assertion), ...fields }, {}, path)

  await t.test('a client authenticates only with its registered method (RFC 7591 section 2; checklist 20)', async t => {
    const authorization = basic('basic', 'basic-secret')
    t.match(await ask({}, { authorization }), success)
    t.match(await asserted(assert(url)), success)
    t.match(await askAsClient({ client_id: 'tls' }), success)
    t.match(await askAsSelfSigned({ client_id: 'self-signed' }), success)

    for (const client_id of ['jwt', 'tls', 'self-signed']) {
      t.match(await ask({}, { authorization: basic(client_id, 'basic-secret') }), invalidClient, client_id)
      t.match(await ask({ client_id, client_secret: 'basic-secret' }), invalidClient, client_id)
      t.match(await ask({ client_id }), invalidClient, client_id)
    }
    for (const client_id of ['basic', 'tls', 'self-signed']) {
      t.match(await asserted(assert(url, { iss: client_id, sub: client_id })), invalidClient, client_id)
    }
    for (const client_id of ['basic', 'jwt', 'self-signed']) {
      t.match(await askAsClient({ client_id }), invalidClient, client_id)
    }
    t.match(await askAsSelfSigned({ client_id: 'tls' }), invalidClient)
  })

  await t.test('iss and sub are both the client (RFC 7523 section 3; checklist 22)', async t => {
    for (const claims of [{ iss: 'other-jwt' }, { sub: 'other-jwt' }, { iss: undefined }, { sub: undefined }]) {
      t.match(await asserted(assert(url, claims)), invalidClient, JSON.stringify(claims))
    }
    const mismatch = await asserted(assert(url), { client_id: 'other-jwt' })
    t.match(mismatch, { status: 400, body: { error: 'invalid_request' } })
    t.match(await asserted(assert(url), { client_id: 'jwt' }), success)
  })

  await t.test('aud is the issuer as one string, at every endpoint (RFC 7523 section 3; checklist 22)', async t => {
    const wrong = [`${url}/token`, `${url}/par`, [url], [url, `${url}/token`], `${url}/`, url.toUpperCase(), undefined]
    for (const aud of wrong) t.match(await asserted(assert(url, { aud })), invalidClient, JSON.stringify(aud))

    for (const path of ['/introspect', '/revoke']) {
      t.match(await asserted(assert(url), { token: 'unknown' }, path), { status: 200 }, path)
      t.match(await asserted(assert(url, { aud: url + path }), { token: 'unknown' }, path), invalidClient, path)
    }
  })

  await t.test('exp is required and in the future (RFC 7523 section 3; checklist 22)', async t => {
    t.match(await asserted(assert(url, { exp: undefined })), invalidClient)
    t.match(await asserted(assert(url, { exp: nowSec() - 30 })), invalidClient)
    t.match(await asserted(assert(url, { exp: String(nowSec() + 60) })), invalidClient)
  })

  await t.test(
    'iat and nbf may be ten seconds ahead, and not more than a minute (RFC 7523 section 3; checklist 22)',
    async t => {
      for (const claim of ['iat', 'nbf']) {
        t.match(await asserted(assert(url, { [claim]: nowSec() + 8 })), success, claim)
        t.match(await asserted(assert(url, { [claim]: nowSec() + 65 })), invalidClient, claim)
      }
    },
  )

  await t.test(
    'the algorithm is the registered one; another one, `none` and HMAC are refused (RFC 7523 section 3; checklist 22)',
    async t => {
      t.match(await asserted(assert(url, {}, {}, otherKey)), invalidClient)
      t.match(await asserted(unsignedJws({}, assertionClaims(url))), invalidClient)
      t.match(await asserted(hmacWithPublicKey(url)), invalidClient)
      t.match(
        await asserted(assert(url, {}, {}, newKey('ES256', key.kid))),
        invalidClient,
        'another key with the same kid',
      )
      t.match(await asserted(assert(url, {}, { crit: ['exp'] })), invalidClient)
    },
  )

  await t.test('an assertion is accepted once over all workers (RFC 7523 section 3; checklist 22)', async t => {
    const assertion = assert(url)

    const replies = await Promise.all(Array.from({ length: 20 }, () => asserted(assertion)))

    t.equal(replies.filter(({ status }) => status === 200).length, 1)
    t.ok(replies.every(({ status, body }) => status === 200 || (status === 401 && body.error === 'invalid_client')))
    t.match(await asserted(assertion), invalidClient)
    t.match(await asserted(assert(url, { jti: undefined })), invalidClient)
    await eventually(() => workersAt(gateway, '/token') > 1)
  })

  await t.test(
    'a client certificate counts when the TLS handshake proved its key (RFC 8705 section 2; checklist 23)',
    async t => {
      t.match(await askAsClient({ client_id: 'tls' }), success)
      t.match(await ask({ client_id: 'tls' }), invalidClient)
      t.match(await askAsStranger({ client_id: 'tls' }), invalidClient)
      t.match(await askAsStranger({ client_id: 'self-signed' }), invalidClient)
    },
  )

  await t.test(
    'a certificate in a header counts only from a trusted proxy (RFC 8705 section 2; checklist 23)',
    async t => {
      t.match(await askAsProxy({ client_id: 'tls' }, { 'client-cert': clientCert }), success)
      t.match(await ask({ client_id: 'tls' }, { 'client-cert': clientCert }), invalidClient)
      t.match(await askAsStranger({ client_id: 'tls' }, { 'client-cert': clientCert }), invalidClient)
    },
  )

  await t.test("a proxy's own certificate is not the client's (RFC 8705 section 2; checklist 23)", async t => {
    const asClient = sender(t, url, { localAddress: '127.0.0.2', cert: client.cert, key: client.key })

    t.match(await asClient({ client_id: 'tls' }), invalidClient)
  })

  await t.test(
    'certificate headers of other clients do not reach the upstream (RFC 8705 section 2; checklist 23)',
    async t => {
      for (const localAddress of ['127.0.0.1', '127.0.0.2']) {
        const fetch = fetchWith(t, { ca: ca.cert, localAddress })
        const headers = {
          'client-cert': clientCert,
          'x-forwarded-client-cert': 'Cert=a',
          'x-ssl-client-verify': 'SUCCESS',
        }
        t.equal((await send(`${url}/echo`, { method: 'GET', type: undefined, fetch, headers })).status, 200)

        const received = upstream.requests.at(-1)
        for (const name of Object.keys(headers)) t.equal(fieldOf(received, name), undefined, name)
        t.equal(fieldOf(received, 'x-forwarded-proto'), 'https')
      }
    },
  )
})
