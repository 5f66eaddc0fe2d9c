import { X509Certificate } from 'node:crypto'
import t, { type Test } from 'tap'
import type { CertificateName, ClientRegistration } from '../../../src/oauth/clients/metadata.ts'
import type { ClientCertificate } from '../../../src/oauth/protocol.ts'
import { type CertificateFiles, createCertificates } from '../../support/certificates.ts'
import { client, createManualClock, startServer } from '../support/authorization-server.ts'

const grant = { grant_type: 'client_credentials' }
const refused = 401

const certificates = createCertificates(t)
const { issue, issueSelfSigned } = certificates

const vouchedFor = ({ cert }: CertificateFiles): ClientCertificate => ({
  certificate: new X509Certificate(cert),
  isChainVerified: true,
})

const unknown = (files: CertificateFiles): ClientCertificate => ({ ...vouchedFor(files), isChainVerified: false })

const named = (kind: CertificateName['kind'], value: string): Partial<ClientRegistration> => ({
  token_endpoint_auth_method: 'tls_client_auth',
  certificateName: { kind, value },
})

const withKeysOf = (...all: readonly CertificateFiles[]): Partial<ClientRegistration> => {
  const keys = all.map(({ cert }) => ({ ...new X509Certificate(cert).publicKey.export({ format: 'jwk' }) }))
  return { token_endpoint_auth_method: 'self_signed_tls_client_auth', keys: { kind: 'jwks', jwks: { keys } } }
}

/** The status that a client gets when it presents this certificate and its client_id. */
const start = async (t: Test, registration: Partial<ClientRegistration>) => {
  const clock = createManualClock(Date.now()) // the certificates were created today
  const clients = [client('tls', { secrets: [], ...registration }), client('app')]
  const { token } = await startServer(t, { clients }, clock)
  const present = async (clientCertificate: ClientCertificate | undefined, fields = { client_id: 'tls' }) =>
    (await token({ ...grant, ...fields }, { request: { clientCertificate } })).status
  return { clock, present }
}

t.test('a certificate of a trusted CA authenticates the client with its subject', async t => {
  const { present } = await start(t, named('subject_dn', 'CN=client,O=Tests'))

  t.equal(await present(vouchedFor(certificates.client)), 200)
  t.equal(await present(unknown(certificates.client)), refused, 'the same certificate without a trusted CA')
  t.equal(await present(vouchedFor(issue('client2', { subject: '/O=Tests/CN=client2' }))), refused)
  t.equal(await present(vouchedFor(issue('turned', { subject: '/CN=client/O=Tests' }))), refused)
  t.equal(await present(undefined), refused)
})

t.test('a subject with unusual characters matches only the registered one', async t => {
  const subject = '/C=AT/O=Sh\\/op, "Inc." \\\\\\+1/OU=#\\+;<x>/organizationIdentifier=PSDAT-FMA-1/CN=Zoë+UID=u=1'
  const odd = vouchedFor(issue('odd', { subject }))
  const registered =
    'CN=Zoë+UID=u=1,organizationIdentifier=PSDAT-FMA-1,OU=\\#\\+\\;\\<x\\>,O=Sh/op\\, \\"Inc.\\" \\\\\\+1,C=AT'

  t.equal(await (await start(t, named('subject_dn', registered))).present(odd), 200, odd.certificate.subject)
  t.equal(await (await start(t, named('subject_dn', registered.replace('u=1', 'u=2')))).present(odd), refused)
  t.equal(await (await start(t, named('subject_dn', registered.replace('Zoë', 'Zoe')))).present(odd), refused)
})

const san =
  'DNS:Api.example,DNS:*.wild.example,IP:2001:db8::1,IP:192.0.2.7,URI:https://api.example/x?a=1,email:Ops@api.example'

t.test('a subject alternative name is compared by the rules of its kind', async t => {
  const presented = vouchedFor(issue('names', { san }))
  const expectations: readonly (readonly [CertificateName['kind'], string, boolean])[] = [
    ['san_dns', 'api.EXAMPLE', true],
    ['san_dns', 'pi.example', false],
    ['san_dns', '.example', false],
    ['san_dns', 'a.wild.example', false],
    ['san_dns', '*.wild.example', true],
    ['san_dns', 'names', false],
    ['san_dns', '192.0.2.7', false],
    ['san_ip', '192.0.2.7', true],
    ['san_ip', '192.0.2.70', false],
    ['san_ip', '2001:DB8:0:0::1', true],
    ['san_ip', '2001:db8::2', false],
    ['san_ip', 'Api.example', false],
    ['san_uri', 'https://api.example/x?a=1', true],
    ['san_uri', 'https://API.example/x?a=1', false],
    ['san_uri', 'https://api.example/x', false],
    ['san_email', 'Ops@api.example', true],
    ['san_email', 'Dev@api.example', false],
    ['san_email', '@api.example', false],
    ['subject_dn', 'CN=names', true],
    ['subject_dn', 'DNS=Api.example', false],
  ]

  for (const [kind, value, isRight] of expectations) {
    const { present } = await start(t, named(kind, value))
    t.equal(await present(presented), isRight ? 200 : refused, `${kind} ${value}`)
  }
})

t.test('a URI that Node quotes matches the registered one, and a name of another kind does not', async t => {
  const presented = vouchedFor(issue('quoted', { san: "URI:urn:it\\'s,DNS:URI:urn:b,email:URI:urn:c@d.example" }))

  t.match(presented.certificate.subjectAltName, /"/)
  t.equal(await (await start(t, named('san_uri', "urn:it's"))).present(presented), 200)
  for (const uri of ['urn:it', '"urn:it\'s"', 'urn:b', 'urn:c@d.example']) {
    t.equal(await (await start(t, named('san_uri', uri))).present(presented), refused, uri)
  }
})

t.test('a self-signed certificate authenticates the client with its key', async t => {
  const { present } = await start(t, withKeysOf(certificates.ca, certificates.selfSigned))

  t.equal(await present(unknown(certificates.selfSigned)), 200)
  t.equal(await present(vouchedFor(certificates.selfSigned)), 200, 'also if a trusted CA signed it')
  t.equal(await present(unknown(issueSelfSigned('self-signed2', { subject: '/CN=self-signed' }))), refused)
  t.equal(
    await present(vouchedFor(certificates.client)),
    refused,
    'a certificate of a trusted CA with another key is refused',
  )
  t.equal(await present(undefined), refused)
})

t.test('an expired certificate is refused, and so is one that is not valid yet', async t => {
  for (const [registration, presented] of [
    [named('subject_dn', 'CN=client,O=Tests'), vouchedFor(certificates.client)],
    [withKeysOf(certificates.selfSigned), unknown(certificates.selfSigned)],
  ] as const) {
    const { clock, present } = await start(t, registration)
    const { validFromDate, validToDate } = presented.certificate
    const turnTo = (atMs: number): void => clock.advanceSec((atMs - clock.nowMs()) / 1000)

    turnTo(validFromDate.getTime() - 1)
    t.equal(await present(presented), refused)
    turnTo(validFromDate.getTime())
    t.equal(await present(presented), 200)
    turnTo(validToDate.getTime())
    t.equal(await present(presented), 200)
    turnTo(validToDate.getTime() + 1)
    t.equal(await present(presented), refused)
  }
})

t.test('a certificate authenticates the client of the body, and the body must have a client_id', async t => {
  const { present } = await start(t, named('subject_dn', 'CN=client,O=Tests'))

  t.equal(await present(vouchedFor(certificates.client), { client_id: '' }), refused)
  t.equal(await present(vouchedFor(certificates.client), { client_id: 'app' }), refused)
  t.equal(await present(vouchedFor(certificates.client), { client_id: 'nobody' }), refused)
})
