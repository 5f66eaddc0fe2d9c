import { X509Certificate } from 'node:crypto'
import { Socket } from 'node:net'
import t from 'tap'
import { type CertificateReaderOptions, createCertificateReader } from '../../../src/http/tls/client-certificate.ts'
import { type CertificateFiles, createCertificates } from '../../support/certificates.ts'
import { readFields } from '../support/request-context.ts'

const { client, selfSigned: other } = createCertificates(t)
const plainSocket = new Socket()

const clientCert = ({ cert }: CertificateFiles): readonly string[] => [
  'Client-Cert',
  `:${new X509Certificate(cert).raw.toString('base64')}:`,
]
const forwarded = ({ cert }: CertificateFiles): readonly string[] => [
  'X-Forwarded-Client-Cert',
  `Hash=ab;Cert="${encodeURIComponent(cert)}"`,
]

/** The certificate of the client by the fields of a peer on a plain connection. */
const believe = (
  fields: readonly string[],
  { isTrusted = true, ...options }: Partial<CertificateReaderOptions> & { readonly isTrusted?: boolean } = {},
): string | undefined => {
  const reader = createCertificateReader({ clientAuth: 'off', hasClientCa: false, header: 'client-cert', ...options })
  const found = reader.reader(plainSocket, readFields(fields), isTrusted)()
  return found && `${found.certificate.subject.split('\n').at(-1)} ${found.isChainVerified}`
}

t.test('what a trusted proxy says in the named field is believed, and vouched for by it', async t => {
  t.equal(believe(clientCert(client)), 'CN=client true')
  t.equal(believe(forwarded(client), { header: 'x-forwarded-client-cert' }), 'CN=client true')
  t.equal(believe([]), undefined)
})

t.test('other peers are not trusted', async t => {
  t.equal(believe(clientCert(client), { isTrusted: false }), undefined)
  t.equal(believe(forwarded(client), { isTrusted: false, header: 'x-forwarded-client-cert' }), undefined)
})

t.test('a field that cannot be read, or comes twice, is not believed', async t => {
  t.equal(believe(['X-Forwarded-Client-Cert', 'Hash=ab'], { header: 'x-forwarded-client-cert' }), undefined)
  t.equal(believe(['Client-Cert', 'no']), undefined)
  t.equal(believe([...clientCert(client), ...clientCert(client)]), undefined)
})

t.test('a field that was not named is not read', async t => {
  t.equal(believe([...clientCert(client), ...forwarded(other)], { header: 'client-cert' }), 'CN=client true')
  t.equal(believe(forwarded(client), { header: 'client-cert' }), undefined)
  t.equal(believe(clientCert(client), { header: 'x-forwarded-client-cert' }), undefined)
  t.equal(believe(clientCert(client), { header: 'none' }), undefined)
})

t.test('where clients are asked here, a trusted proxy is believed all the same', async t => {
  t.equal(believe(clientCert(client), { clientAuth: 'optional', header: 'none' }), undefined)
  t.equal(believe(clientCert(client), { clientAuth: 'optional' }), 'CN=client true')
})

t.test('the certificate is read once', async t => {
  const reader = createCertificateReader({ clientAuth: 'off', hasClientCa: false, header: 'client-cert' })
  const read = reader.reader(plainSocket, readFields(clientCert(client)), true)

  t.ok(read())
  t.equal(read(), read())
})
