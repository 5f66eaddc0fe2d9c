import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { createCertificates } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { newKey, type TestKey } from '../fapi/support/jws.ts'
import { type Fields, post } from '../support/post.ts'
import { newProof } from '../support/proofs.ts'
import { users } from '../support/running.ts'
import { claimsOf, oneCharacterOff } from './support/access-tokens.ts'
import { confidentialClient, publicClient } from './support/clients.ts'
import { onEachStore } from './support/each-store.ts'
import { createTokenRequests } from './support/token-requests.ts'
import { workersAt } from './support/workers-at.ts'

const certificates = createCertificates(t)

const clients = [
  confidentialClient('app'),
  confidentialClient('other', { introspects: 'all' }),
  publicClient('spa'),
  publicClient('other-spa'),
  publicClient('bound-spa', { dpop_bound_access_tokens: true }),
  publicClient('tls-spa', { tls_client_certificate_bound_access_tokens: true }),
]

/** The test itself is the trusted proxy that forwards certificates. */
const setup = () => ({
  workers: 4,
  trustedProxies: ['127.0.0.1'],
  clientCertificateHeader: 'client-cert',
  tokens: { dpop: { nonce: 'optional' } },
  clients: [...clients, confidentialClient('leaving')],
})

const inactive = '{"active":false}'
const invalidGrant = { status: 400, body: { error: 'invalid_grant' } }
const invalidScope = { status: 400, body: { error: 'invalid_scope' } }
const certificateOf = ({ cert }: { readonly cert: string }): Fields => ({
  'client-cert': `:${new X509Certificate(cert).raw.toString('base64')}:`,
})

onEachStore('H. Refresh', setup, async (t, { url, gateway, beside }) => {
  const { refresh, signIn } = createTokenRequests(url)
  const [, ...others] = clients
  /** Another process after a change of the configuration: a smaller scope, one client less and other lifetimes. */
  const { url: changed } = await beside({
    clients: [confidentialClient('app', { scope: 'read' }), ...others],
    tokens: { refreshToken: { lifetime: '60s', reuseWindow: '0s' } },
  })
  const isActive = async (access_token: unknown): Promise<boolean> =>
    (await post(`${url}/introspect`, { token: String(access_token) }, 'other')).text !== inactive
  const prove = (key: TestKey): Fields => ({ dpop: newProof(key, { uri: `${url}/token`, nowMs: Date.now() }) })

  await t.test(
    "another client's attempt is refused, and does not change the lineage (RFC 6749 section 6; checklist 79)",
    async t => {
      const ofApp = await signIn('app')
      const ofSpa = await signIn('spa')

      for (const client_id of ['other', 'other-spa']) {
        t.match(await refresh(ofApp.refresh_token, client_id), invalidGrant, client_id)
        t.match(await refresh(ofSpa.refresh_token, client_id), invalidGrant, client_id)
      }
      for (const { access_token } of [ofApp, ofSpa]) t.ok(await isActive(access_token))
      t.match(await refresh(ofApp.refresh_token, 'app'), { status: 200 })
      const next = await refresh(ofSpa.refresh_token, 'spa')
      t.match(await refresh(next.body.refresh_token, 'spa'), { status: 200 })
    },
  )

  await t.test(
    'a wider scope is refused, a narrower one narrows only the access token (RFC 6749 section 6; checklist 80)',
    async t => {
      for (const client_id of ['app', 'spa']) {
        const { refresh_token } = await signIn(client_id, { scope: 'read' })
        for (const scope of ['read write', 'write', 'Read', 'admin']) {
          t.match(await refresh(refresh_token, client_id, { scope }), invalidScope)
        }
        t.match(await refresh(refresh_token, client_id, { scope: 'read' }), { status: 200, body: { scope: 'read' } })
      }
      const whole = await signIn('app')
      const narrow = await refresh(whole.refresh_token, 'app', { scope: 'read' })
      t.match(narrow.body, { scope: 'read' })
      t.equal(claimsOf(narrow.body.access_token).scope, 'read')
      t.match((await refresh(whole.refresh_token, 'app')).body, { scope: 'read write' })
      const rotating = await refresh((await signIn('spa')).refresh_token, 'spa', { scope: 'write' })
      t.match(rotating.body, { scope: 'write' })
      t.match((await refresh(rotating.body.refresh_token, 'spa')).body, { scope: 'read write' })
    },
  )

  await t.test(
    'a public client gets a new token each time, and reuse revokes the family (RFC 9700 section 4.14.2; checklist 81)',
    async t => {
      const first = await signIn('spa')
      const second = (await refresh(first.refresh_token, 'spa')).body
      const third = (await refresh(second.refresh_token, 'spa')).body
      t.equal(new Set([first, second, third].map(({ refresh_token }) => refresh_token)).size, 3)
      t.match(await refresh(oneCharacterOff(String(first.refresh_token)), 'spa'), invalidGrant)
      t.ok(await isActive(third.access_token), 'a guessed token revokes nothing')

      t.match(await refresh(first.refresh_token, 'spa'), invalidGrant, 'two generations old')

      for (const { access_token } of [first, second, third]) t.notOk(await isActive(access_token))
      t.match(await refresh(third.refresh_token, 'spa'), invalidGrant)
    },
  )

  await t.test(
    'reuse of the previous token after its window revokes the family (RFC 9700 section 4.14.2; checklist 81)',
    async t => {
      const first = await signIn('spa')
      const second = (await refresh(first.refresh_token, 'spa', { at: changed })).body
      t.ok(await isActive(second.access_token))

      t.match(await refresh(first.refresh_token, 'spa', { at: changed }), invalidGrant)

      for (const { access_token } of [first, second]) t.notOk(await isActive(access_token))
      t.match(await refresh(second.refresh_token, 'spa'), invalidGrant, 'at every worker')
    },
  )

  await t.test(
    '20 parallel refreshes over the workers yield one lineage, with one successor (RFC 9700 section 4.14.2; checklist 82)',
    async t => {
      const { refresh_token } = await signIn('spa')

      const replies = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token, 'spa')))

      t.ok(replies.every(({ status }) => status === 200))
      const [successor, ...others] = new Set(replies.map(({ body }) => body.refresh_token))
      t.same(others, [])
      for (const { body } of replies) t.ok(await isActive(body.access_token))
      const next = await Promise.all(Array.from({ length: 20 }, () => refresh(successor, 'spa')))
      t.equal(new Set(next.map(({ body }) => body.refresh_token)).size, 1)
      await eventually(() => workersAt(gateway, '/token') > 1)
    },
  )

  await t.test(
    'a confidential or sender-constrained client keeps its refresh token (RFC 9700 section 2.2.2; checklist 83)',
    async t => {
      const key = newKey('ES256')
      const certificate = certificateOf(certificates.selfSigned)
      const holders: Readonly<Record<string, () => Fields>> = {
        app: () => ({}),
        'bound-spa': () => prove(key),
        'tls-spa': () => certificate,
      }
      for (const [client_id, hold] of Object.entries(holders)) {
        const { refresh_token } = await signIn(client_id, { headers: hold() })
        t.type(refresh_token, 'string', client_id)
        const replies = await Promise.all(
          Array.from({ length: 8 }, () => refresh(refresh_token, client_id, { headers: hold() })),
        )
        t.ok(
          replies.every(({ status, body }) => status === 200 && body.refresh_token === undefined),
          client_id,
        )
      }
    },
  )

  await t.test(
    'if the refresh token is rotated, the previous one is accepted for a retry (RFC 9700 section 2.2.2; checklist 83)',
    async t => {
      const { refresh_token } = await signIn('spa')
      const answered = await refresh(refresh_token, 'spa')

      const again = await refresh(refresh_token, 'spa')

      t.match(again, { status: 200, body: { refresh_token: answered.body.refresh_token } })
      t.ok(await isActive(again.body.access_token))
    },
  )

  await t.test(
    'a user that the operator has removed gets no further tokens (RFC 9700 section 4.14.2; checklist 84)',
    async t => {
      const [ofApp, ofSpa] = [await signIn('app'), await signIn('spa')]
      const [alice] = await users()
      const { url: withoutAlice } = await beside({ login: { users: [{ ...alice, username: 'bob' }] } })

      t.match(await refresh(ofApp.refresh_token, 'app', { at: withoutAlice }), invalidGrant)
      t.match(await refresh(ofSpa.refresh_token, 'spa', { at: withoutAlice }), invalidGrant)
      t.match(await refresh(ofApp.refresh_token, 'app'), { status: 200 }, 'where the configuration still has the user')
    },
  )

  await t.test(
    'a removed client gets no further tokens, and a withdrawn scope is not granted again (RFC 9700 section 4.14.2; checklist 84)',
    async t => {
      const [ofApp, ofLeaving] = [await signIn('app'), await signIn('leaving')]
      const unknown = { status: 401, body: { error: 'invalid_client' } }
      t.match(await refresh(ofLeaving.refresh_token, 'leaving', { at: changed }), unknown)
      t.match(await refresh(ofLeaving.refresh_token, 'app', { at: changed }), invalidGrant)
      t.match((await refresh(ofApp.refresh_token, 'app', { at: changed })).body, { scope: 'read' })
      const withdrawn = await refresh(ofApp.refresh_token, 'app', { scope: 'read write', at: changed })
      t.match(withdrawn, invalidScope)
      t.match((await refresh(ofApp.refresh_token, 'app')).body, { scope: 'read write' })
    },
  )

  await t.test('no access token outlives its grant (RFC 9700 section 4.14.2; checklist 84)', async t => {
    const { access_token, refresh_token } = await signIn('app', { at: changed })
    const ofGrant = await post(`${url}/introspect`, { token: String(refresh_token) }, 'app')
    const refreshed = await refresh(refresh_token, 'app', { at: changed })

    for (const token of [access_token, refreshed.body.access_token]) {
      t.equal(claimsOf(token).exp, ofGrant.body.exp)
    }
    t.ok(Number(refreshed.body.expires_in) <= 60)
    const { exp, iat } = claimsOf((await signIn('app')).access_token)
    t.equal(Number(exp) - Number(iat), 600, 'where the grant lasts longer')
  })

  await t.test(
    'the refresh token of a public client is bound to its key and to its certificate (RFC 9449 section 5; checklist 85)',
    async t => {
      const [key, otherKey] = [newKey('ES256'), newKey('ES256')]
      const [certificate, otherCertificate] = [
        certificateOf(certificates.client),
        certificateOf(certificates.selfSigned),
      ]
      const cases: Readonly<Record<string, readonly [right: () => Fields, ...wrong: (() => Fields)[]]>> = {
        'bound-spa': [() => prove(key), () => prove(otherKey), () => certificate, () => ({})],
        'tls-spa': [() => certificate, () => otherCertificate, () => ({})],
        // The client is not registered for bound tokens, but it proved a key when the token was issued.
        spa: [() => prove(key), () => prove(otherKey), () => certificate, () => ({})],
      }
      for (const [client_id, [right, ...wrong]] of Object.entries(cases)) {
        const { refresh_token } = await signIn(client_id, { headers: right() })
        for (const hold of wrong) {
          const { status, body } = await refresh(refresh_token, client_id, { headers: hold() })
          t.equal(status, 400, client_id)
          t.match(body.error, /^invalid_(grant|request|dpop_proof)$/)
        }
        t.match(await refresh(refresh_token, client_id, { headers: right() }), { status: 200 }, client_id)
      }
    },
  )
})
