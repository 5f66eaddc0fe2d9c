import t from 'tap'
import type { ClientRegistration } from '../../../src/oauth/clients/metadata.ts'
import type { OAuthRequest } from '../../../src/oauth/protocol.ts'
import { createCertificates } from '../../support/certificates.ts'
import { client, startServer, type TestServer } from '../support/authorization-server.ts'
import { newKeyHolder, toCertificateHolder } from '../support/holder.ts'

const optional = { dpop: { nonce: 'optional' } } as const
const formats = ['jwt', 'opaque'] as const
const certificates = createCertificates(t)
const holder = toCertificateHolder(certificates.client)

const start = (t: Parameters<typeof startServer>[0], changes: Partial<ClientRegistration> = {}): Promise<TestServer> =>
  startServer(t, { ...optional, clients: [client('app', changes)] })

const ask = ({ token }: TestServer, request: Partial<OAuthRequest> = {}) =>
  token({ grant_type: 'client_credentials' }, { as: 'app', request })

const cnfOf = async (server: TestServer, access_token: unknown): Promise<unknown> =>
  (await server.introspect({ token: String(access_token) }, { as: 'app' })).body.cnf

t.test('a DPoP proof binds the token to its key, in both formats', async t => {
  for (const format of formats) {
    const server = await startServer(t, { ...optional, accessToken: { format, lifetimeSec: 600, alg: 'ES256' } })
    const keyHolder = await newKeyHolder()

    const { status, body } = await ask(server, keyHolder.prove(server.clock))

    t.match({ status, body }, { status: 200, body: { token_type: 'DPoP' } })
    t.same(await cnfOf(server, body.access_token), { jkt: keyHolder.jkt })
    t.match(await server.server.verifyAccessToken(String(body.access_token)), { cnf: { jkt: keyHolder.jkt } })
  }
})

t.test('without a proof the token is a bearer token, with or without a certificate', async t => {
  const server = await start(t)

  for (const request of [{}, holder.request]) {
    const { body } = await ask(server, request)
    t.equal(body.token_type, 'Bearer')
    t.equal(await cnfOf(server, body.access_token), undefined)
  }
})

t.test('a client that must send proofs gets no token without one (RFC 9449 section 5.2)', async t => {
  const server = await start(t, { dpop_bound_access_tokens: true })
  const refusal = { status: 400, body: { error: 'invalid_dpop_proof' } }

  t.match(await ask(server), refusal)
  t.match(await ask(server, holder.request), refusal, 'a certificate is not a proof')
  t.match(await ask(server, (await newKeyHolder()).prove(server.clock)), { status: 200 })
})

t.test('tokens of a client that is registered for it are bound to its certificate (RFC 8705 section 3)', async t => {
  const server = await start(t, { tls_client_certificate_bound_access_tokens: true })

  const { body } = await ask(server, holder.request)

  t.equal(body.token_type, 'Bearer')
  t.same(await cnfOf(server, body.access_token), { 'x5t#S256': holder.thumbprint })
  t.match(await ask(server), { status: 400, body: { error: 'invalid_request' } })
})

t.test('a client that is registered for its certificate is bound to that and to the key of its proof', async t => {
  for (const format of formats) {
    const clients = [client('app', { tls_client_certificate_bound_access_tokens: true })]
    const accessToken = { format, lifetimeSec: 600, alg: 'ES256' } as const
    const server = await startServer(t, { ...optional, clients, accessToken })
    const keyHolder = await newKeyHolder()

    const { body } = await ask(server, { ...holder.request, ...keyHolder.prove(server.clock) })

    t.equal(body.token_type, 'DPoP')
    const both = { jkt: keyHolder.jkt, 'x5t#S256': holder.thumbprint }
    t.same(await cnfOf(server, body.access_token), both)
    t.same((await server.server.verifyAccessToken(String(body.access_token)))?.cnf, both)
    const refused = await ask(server, keyHolder.prove(server.clock))
    t.match(refused, { status: 400, body: { error: 'invalid_request' } }, 'a proof is not a certificate')
  }
})

t.test('a client that is registered for both must send both', async t => {
  const both = { dpop_bound_access_tokens: true, tls_client_certificate_bound_access_tokens: true }
  const server = await start(t, both)
  const prove = (await newKeyHolder()).prove

  t.match(await ask(server, prove(server.clock)), { status: 400, body: { error: 'invalid_request' } })
  t.match(await ask(server, holder.request), { status: 400, body: { error: 'invalid_dpop_proof' } })
  t.match(await ask(server, { ...holder.request, ...prove(server.clock) }), { status: 200 })
})

t.test('a certificate beside a proof binds only a client that is registered for it', async t => {
  const server = await start(t, { profile: 'fapi2' })
  const keyHolder = await newKeyHolder()

  const { body } = await ask(server, { ...holder.request, ...keyHolder.prove(server.clock) })

  t.same(await cnfOf(server, body.access_token), { jkt: keyHolder.jkt })
})

t.test('FAPI 2.0: a client of that profile gets no unbound token', async t => {
  const own = await start(t, { profile: 'fapi2' })
  const all = await startServer(t, { ...optional, profile: 'fapi2', clients: [client('app')] })

  for (const server of [own, all]) {
    t.match(await ask(server), { status: 400, body: { error: 'invalid_request' } })
    t.match(await ask(server, (await newKeyHolder()).prove(server.clock)), { body: { token_type: 'DPoP' } })
    const { body } = await ask(server, holder.request)
    t.same(await cnfOf(server, body.access_token), { 'x5t#S256': holder.thumbprint })
  }
})
