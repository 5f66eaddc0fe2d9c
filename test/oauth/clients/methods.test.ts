import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { type ClientAuthMethod, clientAuthMethods } from '../../../src/oauth/clients/metadata.ts'
import { createCertificates } from '../../support/certificates.ts'
import {
  basic,
  client,
  createManualClock,
  formRequest,
  issuer,
  type Sent,
  startServer,
} from '../support/authorization-server.ts'
import { assertionClaims, assertionFields, createClientKey } from '../support/client-keys.ts'

/** The content of a request: the parameters of its body, and the parts outside the body. */
interface Carried {
  readonly fields: Readonly<Record<string, string>>
  readonly request?: Sent['request']
}

const certificates = createCertificates(t)
const vouchedFor = { certificate: new X509Certificate(certificates.client.cert), isChainVerified: true }
const selfSigned = { certificate: new X509Certificate(certificates.selfSigned.cert), isChainVerified: false }
const key = await createClientKey('ES256')
const clock = createManualClock(Date.now()) // the certificates were created today

const registeredKeys = [key.publicJwk, { ...selfSigned.certificate.publicKey.export({ format: 'jwk' }) }]

/** Every client has the credentials of all methods, so that it is refused only because of its method. */
const clients = clientAuthMethods.map(method =>
  client(method, {
    token_endpoint_auth_method: method,
    keys: { kind: 'jwks', jwks: { keys: registeredKeys } },
    certificateName: { kind: 'san_dns', value: 'client.example' },
  }),
)

/** The request of a client that uses this method. */
const present: Readonly<Record<ClientAuthMethod, (client_id: string) => Carried | Promise<Carried>>> = {
  client_secret_basic: client_id => ({
    fields: {},
    request: { authorization: [basic(client_id, `${client_id}-secret`)] },
  }),
  client_secret_post: client_id => ({ fields: { client_id, client_secret: `${client_id}-secret` } }),
  private_key_jwt: async client_id => ({
    fields: assertionFields(await key.sign(assertionClaims(client_id, issuer, clock.nowMs()))),
  }),
  tls_client_auth: client_id => ({ fields: { client_id }, request: { clientCertificate: vouchedFor } }),
  self_signed_tls_client_auth: client_id => ({ fields: { client_id }, request: { clientCertificate: selfSigned } }),
  none: client_id => ({ fields: { client_id } }),
}

/** A certificate belongs to the connection, not to the request: a client without credentials may have one. */
const isNothingMore = (used: ClientAuthMethod, registered: ClientAuthMethod): boolean =>
  registered === 'none' && (used === 'tls_client_auth' || used === 'self_signed_tls_client_auth')

t.test('a client is accepted only with its registered method (RFC 7591 section 2; checklist 20)', async t => {
  const { revoke } = await startServer(t, { clients }, clock)

  for (const registered of clientAuthMethods) {
    // From another address each time, so that no client is rate limited.
    const address = `192.0.2.${clientAuthMethods.indexOf(registered)}`
    for (const used of clientAuthMethods) {
      const { fields, request } = await present[used](registered)
      const { status } = await revoke({ token: 'unknown', ...fields }, { request: { ...request, address } })

      const isRight = used === registered || isNothingMore(used, registered)
      t.equal(status, isRight ? 200 : 401, `${used} by a client registered for ${registered}`)
    }
  }
})

t.test(
  "two mechanisms at once are refused, whatever the client's registered method (RFC 6749 section 2.3; checklist 16)",
  async t => {
    const { revoke } = await startServer(t, { clients }, clock)
    const mechanisms = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const

    for (const registered of mechanisms) {
      for (const one of mechanisms) {
        for (const other of mechanisms.slice(mechanisms.indexOf(one) + 1)) {
          const both = [await present[one](registered), await present[other](registered)]
          const fields = Object.assign({ token: 'unknown' }, ...both.map(carried => carried.fields))
          const request = Object.assign({}, ...both.map(carried => carried.request))
          const answer = await revoke(fields, { request })
          t.match(answer, { status: 400, body: { error: 'invalid_request' } }, `${one} and ${other}, as ${registered}`)
        }
      }
    }
  },
)

t.test(
  'a certificate on the connection does not count as a second mechanism (RFC 6749 section 2.3; checklist 16)',
  async t => {
    const { revoke } = await startServer(t, { clients }, clock)

    for (const registered of ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const) {
      for (const clientCertificate of [vouchedFor, selfSigned]) {
        const { fields, request } = await present[registered](registered)
        const answer = await revoke({ token: 'unknown', ...fields }, { request: { ...request, clientCertificate } })
        t.match(answer, { status: 200 }, registered)
      }
    }
  },
)

t.test('the certificate of a request is read only for clients that authenticate with it', async t => {
  const { server } = await startServer(t, { clients }, clock)
  const look = async (method: ClientAuthMethod): Promise<number> => {
    let looks = 0
    const { fields, request: changes } = await present[method](method)
    const request = formRequest(fields, { request: changes ?? {} })
    const watched = Object.defineProperty({ ...request }, 'clientCertificate', {
      get() {
        looks++
        return vouchedFor
      },
    })
    await server.authenticate(server.parseForm(watched), watched)
    return looks
  }

  t.equal(await look('tls_client_auth'), 1)
  for (const method of ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const) {
    t.equal(await look(method), 0, method)
  }
})
