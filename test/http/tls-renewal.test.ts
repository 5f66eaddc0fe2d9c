import { X509Certificate } from 'node:crypto'
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import type { TLSSocket } from 'node:tls'
import t from 'tap'
import { openTls } from '../../src/http/tls.ts'
import type { TlsOptions } from '../../src/http/tls-options.ts'
import type { CertificateFiles } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { openConnection } from '../support/raw-client.ts'
import { certificates, handshake, listen, request, trust, whoAmI } from './support/tls-server.ts'

const { ca, server, client, selfSigned } = certificates

/** Puts another pair into the files of the first, without a turn of the event loop between the two. */
const swap = (files: CertificateFiles, other: CertificateFiles): void => {
  copyFileSync(other.certFile, files.certFile)
  copyFileSync(other.keyFile, files.keyFile)
}

const serialOf = (socket: TLSSocket): string | undefined => socket.getPeerX509Certificate()?.serialNumber
const serial = ({ cert }: CertificateFiles): string => new X509Certificate(cert).serialNumber

t.test('new files: new connections get the new certificate, and those that are open stay', async t => {
  const first = certificates.issue('renewed', { san: 'DNS:localhost' })
  const { url, seen } = await listen(t, { certFile: first.certFile, keyFile: first.keyFile })
  const open = openConnection(t, url, trust).send(request)
  await open.answer()

  const second = certificates.issue('renewal', { san: 'DNS:localhost', days: 60 })
  swap(first, second)
  await eventually(() => seen.length > 0)

  t.same(seen, [`renewed until ${new X509Certificate(second.cert).validToDate.toISOString()}`])
  t.equal(serialOf(await handshake(t, url)), serial(second))
  t.equal((await open.send(request).answer()).status, 200)
})

t.test('files that cannot be served change nothing, and are told of once for each content', async t => {
  const first = certificates.issue('broken', { san: 'DNS:localhost' })
  const { url, seen } = await listen(t, { certFile: first.certFile, keyFile: first.keyFile })
  const broken: readonly (() => void)[] = [
    () => copyFileSync(server.keyFile, first.keyFile),
    () => writeFileSync(first.keyFile, ''),
    () => rmSync(first.keyFile),
  ]

  for (const [count, breakIt] of broken.entries()) {
    breakIt()
    await eventually(() => seen.length === count + 1)
    t.equal(serialOf(await handshake(t, url)), serial(first))
  }
  const second = certificates.issue('mended', { san: 'DNS:localhost' })
  swap(first, second)
  await eventually(() => seen.length > broken.length)

  t.same(
    seen.slice(0, broken.length),
    broken.map(() => 'refused'),
  )
  t.equal(serialOf(await handshake(t, url)), serial(second))
})

t.test('a new CA for clients counts from the next connection on', async t => {
  const clientCaFile = `${certificates.dir}/client-ca.pem`
  writeFileSync(clientCaFile, ca.cert)
  const { url, seen } = await listen(t, { clientAuth: 'optional', clientCaFile })
  t.equal(await whoAmI(t, url, selfSigned), 'CN=self-signed false')

  writeFileSync(clientCaFile, `${ca.cert}${selfSigned.cert}`)
  await eventually(() => seen.length > 0)

  t.equal(await whoAmI(t, url, selfSigned), 'CN=self-signed true')
  t.equal(await whoAmI(t, url, client), 'CN=client true')
})

t.test('files that cannot be served at the start are an error', async t => {
  const report = { renewed: () => undefined, refused: () => undefined }
  const open = (changes: Partial<TlsOptions>) =>
    openTls({ certFile: server.certFile, keyFile: server.keyFile, clientAuth: 'off', ...changes }, report)

  await t.rejects(open({ keyFile: client.keyFile }), /another certificate/)
  await t.rejects(open({ certFile: `${certificates.dir}/none.pem` }), { code: 'ENOENT' })
  await t.rejects(open({ clientCaFile: server.keyFile }))
})
