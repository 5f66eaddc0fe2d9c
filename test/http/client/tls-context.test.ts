import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { createConnector } from '../../../src/http/client/connector.ts'
import { toEndpointAddress } from '../../../src/http/client/endpoint-address.ts'
import { type ClientTls, type ClientTlsOptions, openClientTls } from '../../../src/http/client/tls-context.ts'
import type { CertificateEnds } from '../../../src/http/tls/pem.ts'
import { createCertificates } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { ask, openPool } from './support/round-trips.ts'

const certificates = createCertificates(t)
const { ca, server, client, dir } = certificates

/** The certificates in use, and the reports about them. */
const open = (t: Test, options: ClientTlsOptions) => {
  const said: string[] = []
  const ends: CertificateEnds[] = []
  const report = {
    uses: (now: CertificateEnds) => void ends.push(now),
    renewed: () => said.push('renewed'),
    refused: (reason: string) => said.push(reason),
  }
  const tls = openClientTls(options, report, 5)
  t.teardown(() => tls.close())
  return { tls, said, ends }
}

/** A server that answers with the client's certificate. @returns a function that requests it over a new connection */
const startSecure = async (t: Test) => {
  const options = { cert: server.cert, key: server.key, ca: ca.cert, requestCert: true, rejectUnauthorized: false }
  const secure = createServer(options, (req, res) => {
    res.setHeader('connection', 'close')
    res.end((req.socket as TLSSocket).getPeerCertificate().subject?.CN ?? 'nobody')
  })
  secure.listen(0, '127.0.0.1')
  await once(secure, 'listening')
  t.teardown(() => secure.close())
  const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`
  return (tls?: ClientTls) => ask(openPool(t, url, {}, createConnector(toEndpointAddress(url), tls)))
}

t.test('new connections show what the files hold now', async t => {
  const askOver = await startSecure(t)
  const [certFile, keyFile] = [join(dir, 'mine.pem'), join(dir, 'mine.key')]
  copyFileSync(client.certFile, certFile)
  copyFileSync(client.keyFile, keyFile)
  const { tls, said } = open(t, { caFile: ca.certFile, certFile, keyFile })
  t.equal(await askOver(tls), 'client')

  const other = certificates.issue('other', { usage: 'clientAuth' })
  copyFileSync(other.certFile, certFile)
  copyFileSync(other.keyFile, keyFile)

  await eventually(() => said.includes('renewed'))
  t.equal(await askOver(tls), 'other')
})

t.test('the expiry of the certificates is reported at the start and at each renewal', async t => {
  const endOf = (cert: string): number => new X509Certificate(cert).validToDate.getTime()
  const [certFile, keyFile] = [join(dir, 'ending.pem'), join(dir, 'ending.key')]
  copyFileSync(client.certFile, certFile)
  copyFileSync(client.keyFile, keyFile)
  const { ends } = open(t, { caFile: ca.certFile, certFile, keyFile })
  t.same(ends, [{ own: endOf(client.cert), authorities: endOf(ca.cert) }])

  const other = certificates.issue('not-ending', { usage: 'clientAuth', days: 60 })
  copyFileSync(other.certFile, certFile)
  copyFileSync(other.keyFile, keyFile)

  await eventually(() => ends.at(-1)?.own === endOf(other.cert))
  t.same(open(t, { servername: 'localhost' }).ends, [{ own: undefined, authorities: undefined }])
})

t.test('a certificate that does not hold is refused, whatever the environment says', async t => {
  const askOver = await startSecure(t)
  t.teardown(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED)
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'

  await t.rejects(askOver(), { message: /certificate/ })
  await t.rejects(askOver(open(t, {}).tls), { message: /certificate/ })
  t.equal(await askOver(open(t, { caFile: ca.certFile }).tls), 'nobody')
})

t.test('files that cannot be used change nothing, and are reported once', async t => {
  const askOver = await startSecure(t)
  const caFile = join(dir, 'ca-in-use.pem')
  copyFileSync(ca.certFile, caFile)
  const { tls, said } = open(t, { caFile })

  writeFileSync(caFile, ca.cert.slice(0, -30))
  await eventually(() => said.length > 0)
  t.match(said, [/ca-in-use\.pem has a BEGIN without its END/])
  t.equal(await askOver(tls), 'nobody')
  copyFileSync(ca.certFile, caFile)
  writeFileSync(join(dir, 'other-ca.pem'), '')
  copyFileSync(join(dir, 'other-ca.pem'), caFile)
  await eventually(() => said.length > 1)
  t.match(said[1], /holds no certificate/)
})

t.test('an error at the start names the file', async t => {
  const cases: readonly (readonly [ClientTlsOptions, RegExp])[] = [
    [{ caFile: join(dir, 'absent.pem') }, /absent\.pem cannot be read \(ENOENT\)/],
    [{ caFile: client.keyFile }, /client\.key holds no certificate/],
    [{ certFile: client.certFile, keyFile: server.keyFile }, /server\.key holds the key of another certificate/],
    [{ certFile: client.certFile, keyFile: client.certFile }, /client\.pem holds no private key/],
  ]
  for (const [options, message] of cases) t.throws(() => open(t, options), { message })
})
