import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { parseClientCert, parseForwardedClientCert } from '../../../src/http/tls/forwarded-certificate.ts'
import { type CertificateFiles, createCertificates } from '../../support/certificates.ts'

const { client, selfSigned: other } = createCertificates(t)

const serialOf = ({ cert }: CertificateFiles): string => new X509Certificate(cert).serialNumber
const base64 = ({ cert }: CertificateFiles): string => new X509Certificate(cert).raw.toString('base64')
const urlEncoded = ({ cert }: CertificateFiles): string => encodeURIComponent(cert)

t.test('Client-Cert is the DER bytes in base64 between colons (RFC 9440 section 2.2)', async t => {
  t.equal(parseClientCert(`:${base64(client)}:`)?.serialNumber, serialOf(client))
  t.equal(parseClientCert(` :${base64(client)}: `)?.serialNumber, serialOf(client))
})

t.test('what is no such value, or more than one, is no certificate', async t => {
  const der = base64(client)
  const wrong = {
    'no colons': der,
    'one colon': `:${der}`,
    empty: '::',
    'no base64': `:${der.replace(/.$/, '*')}:`,
    'no certificate': `:${Buffer.from('certificate').toString('base64')}:`,
    'a byte too much': `:${Buffer.concat([Buffer.from(der, 'base64'), Buffer.from([0])]).toString('base64')}:`,
    'PEM inside': `:${Buffer.from(client.cert).toString('base64')}:`,
    'PEM itself': client.cert,
    'two lines': `:${der}:, :${der}:`,
    quoted: `":${der}:"`,
  }

  for (const [what, value] of Object.entries(wrong)) t.equal(parseClientCert(value), undefined, what)
})

t.test("of X-Forwarded-Client-Cert the nearest proxy's element counts, the last one", async t => {
  const own = `Cert="${urlEncoded(client)}"`
  const values = [
    own,
    `Cert=${urlEncoded(client)}`,
    `By=spiffe://a;Hash=ab;cERT="${urlEncoded(client)}";Subject="CN=client, O=\\"Tests, Inc\\"";URI=`,
    `Cert="${urlEncoded(other)}",Hash=cd; ${own}`,
    `Subject="a\\\\";${own}`,
  ]

  for (const value of values)
    t.equal(parseForwardedClientCert(value)?.serialNumber, serialOf(client), value.slice(0, 60))
})

t.test('an element without a certificate, with two, or with quotes that do not match has none', async t => {
  const own = `Cert="${urlEncoded(client)}"`
  const wrong = {
    empty: '',
    'only a hash': 'Hash=ab',
    'one before the nearest': `${own},Hash=ab`,
    'two in one element': `${own};${own}`,
    'inside a quoted subject': `Subject=";${own.replaceAll('"', '\\"')};"`,
    'an open quote': `${own.slice(0, -1)}`,
    'a chain alone': `Chain="${urlEncoded(client)}"`,
    'a broken percent sequence': `Cert="${urlEncoded(client)}%"`,
    'a name that ends like it': `X-${own}`,
    'no PEM': `Cert="${base64(client)}"`,
  }

  for (const [what, value] of Object.entries(wrong)) t.equal(parseForwardedClientCert(value), undefined, what)
})
