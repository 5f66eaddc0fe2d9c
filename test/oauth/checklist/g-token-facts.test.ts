import { createHash, X509Certificate } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import t from 'tap'
import { createCertificates } from '../../support/certificates.ts'
import { bareJwk, newKey } from '../fapi/support/jws.ts'
import { type Fields, type Posted, post, send } from '../support/post.ts'
import { newProof } from '../support/proofs.ts'
import { operations } from '../support/running.ts'
import { nowSec } from './support/assertions.ts'
import { newCode, redeem } from './support/browser.ts'
import { confidentialClient } from './support/clients.ts'
import { onEachStore } from './support/each-store.ts'

const accounts = 'https://api.example/accounts'
const payments = 'https://api.example/payments'
const certificate = new X509Certificate(createCertificates(t).client.cert).raw

/** The test itself is the trusted proxy that forwards certificates. */
const setup = () => ({
  trustedProxies: ['127.0.0.1'],
  clientCertificateHeader: 'client-cert',
  tokens: { dpop: { nonce: 'optional' } },
  groupings: [{ name: 'OAuth', operations }, api('accounts', accounts), api('payments', payments)],
  upstreams: { api: { targets: ['http://127.0.0.1:9'] } },
  clients: [
    confidentialClient('app'),
    confidentialClient('server', { introspects: 'all' }),
    confidentialClient('accounts', { introspects: [accounts] }),
    confidentialClient('cert', { tls_client_certificate_bound_access_tokens: true }),
  ],
})

const api = (name: string, resource: string): object => ({
  name,
  basePath: `/${name}`,
  upstream: 'api',
  resource,
  operations: [{ method: 'GET', path: '/**', scopes: ['read'] }],
})

const inactive = '{"active":false}'

onEachStore('G. Token facts of introspection', setup, async (t, { url, beside }) => {
  const opaque = await beside({ tokens: { accessToken: { format: 'opaque' }, dpop: { nonce: 'optional' } } })
  const introspect = (token: unknown, as = 'app'): Promise<Posted> =>
    post(`${url}/introspect`, { token: String(token) }, as)
  const issue = async (at: string, as = 'app', headers: Fields = {}): Promise<string> =>
    String((await post(`${at}/token`, { grant_type: 'client_credentials' }, as, headers)).body.access_token)

  /** A proof of this key for the token endpoint of one of the two processes, which have the same issuer. */
  const proofBy = (key = newKey('ES256')): Fields => ({
    dpop: newProof(key, { uri: `${url}/token`, nowMs: Date.now() }),
  })
  const withCertificate = { 'client-cert': `:${certificate.toString('base64')}:` }

  await t.test('the members have the types of RFC 7662 (RFC 7662 section 2.2; checklist 72)', async t => {
    const form = [
      ['grant_type', 'client_credentials'],
      ['resource', accounts],
      ['resource', payments],
    ]
    for (const at of [url, opaque.url]) {
      const { body: forBoth } = await send(`${at}/token`, { as: 'app', body: new URLSearchParams(form).toString() })
      const audiences: readonly (readonly [token: unknown, aud: unknown])[] = [
        [await issue(at), url],
        [forBoth.access_token, [accounts, payments]],
      ]
      for (const [token, aud] of audiences) {
        const { body } = await introspect(token)
        t.equal(body.active, true)
        for (const name of ['exp', 'iat', 'nbf']) {
          t.ok(Number.isSafeInteger(body[name]), name)
          t.ok(Math.abs(Number(body[name]) - nowSec()) < 3600, `${name} is in seconds`)
        }
        t.equal(body.scope, 'read write')
        t.same(body.aud, aud)
      }
    }
  })

  await t.test('cnf is shown only for bound tokens (RFC 7662 section 2.2; checklist 72)', async t => {
    const holder = newKey('ES256')
    const jkt = await calculateJwkThumbprint(bareJwk(holder))
    const thumbprint = createHash('sha256').update(certificate).digest('base64url')

    for (const at of [url, opaque.url]) {
      const byKey = await introspect(await issue(at, 'app', proofBy(holder)))
      t.match(byKey.body, { active: true, token_type: 'DPoP', cnf: { jkt } })
      const byCertificate = await introspect(await issue(at, 'cert', withCertificate), 'cert')
      t.match(byCertificate.body, { active: true, token_type: 'Bearer', cnf: { 'x5t#S256': thumbprint } })
      const { body } = await introspect(await issue(at, 'app', withCertificate))
      t.match(body, { active: true, token_type: 'Bearer' })
      t.notOk('cnf' in body, 'a token is bound to a certificate only if the client is registered for it')
    }
  })

  await t.test('a refresh token is active only for its own client (RFC 7662 section 2.2; checklist 72)', async t => {
    const { body } = await redeem(url, await newCode(url))

    t.match((await introspect(body.refresh_token)).body, { active: true, client_id: 'app' })
    for (const as of ['server', 'accounts', 'cert']) t.equal((await introspect(body.refresh_token, as)).text, inactive)
  })

  await t.test('a JWT and an opaque token give the same members (RFC 7662 section 4; checklist 73)', async t => {
    const kinds: Readonly<Record<string, (at: string) => Promise<unknown>>> = {
      "a client's": at => issue(at),
      "a client's, bound to a key": at => issue(at, 'app', proofBy()),
      "a user's": async at => (await redeem(at, await newCode(at))).body.access_token,
    }
    t.match(await issue(opaque.url), /^[\w-]{22}\.[\w-]{43}$/)
    for (const [kind, make] of Object.entries(kinds)) {
      const [inJwt, inOpaque] = [await introspect(await make(url)), await introspect(await make(opaque.url))]
      t.match([inJwt.body, inOpaque.body], [{ active: true }, { active: true }], kind)
      t.same(Object.keys(inJwt.body), Object.keys(inOpaque.body), kind)
      const { iss, aud, client_id, scope, token_type, sub } = inJwt.body
      t.match(inOpaque.body, { iss, aud, client_id, scope, token_type, sub }, kind)
    }
  })

  await t.test(
    'a revoked JWT is inactive though its signature is valid (RFC 7662 section 4; checklist 73)',
    async t => {
      const [token, other] = [await issue(url), await issue(url)]
      t.match((await introspect(token)).body, { active: true })

      t.equal((await post(`${url}/revoke`, { token }, 'app')).status, 200)

      t.equal((await introspect(token)).text, inactive)
      t.match((await introspect(other)).body, { active: true })
    },
  )
})
