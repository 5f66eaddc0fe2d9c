import { X509Certificate } from 'node:crypto'
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import type { TLSSocket } from 'node:tls'
import t from 'tap'
import { openTls } from '../../src/http/tls/tls.ts'
import type { TlsOptions } from '../../src/http/tls/tls-options.ts'
import type { CertificateFiles } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { headerOf } from '../support/raw-answer.ts'
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

const endOf = ({ cert }: CertificateFiles): number => new X509Certificate(cert).validToDate.getTime()

t.test(
  'the listener reports the expiry of its certificates, the first in a chain and the first of the CAs',
  async t => {
    const first = certificates.issue('ending', { san: 'DNS:localhost' })
    const above = certificates.issue('above', { days: 5 })
    const cas = `${certificates.dir}/cas.pem`
    writeFileSync(cas, `${ca.cert}${above.cert}`)
    const files = { certFile: first.certFile, keyFile: first.keyFile, clientCaFile: cas }
    const { ends, seen } = await listen(t, { ...files, clientAuth: 'optional' })
    t.same(ends, [{ own: endOf(first), authorities: endOf(above) }])

    writeFileSync(first.keyFile, '')
    await eventually(() => seen.length > 0)
    t.equal(ends.length, 1, 'what is refused is not served')

    const second = certificates.issue('not-ending', { san: 'DNS:localhost', days: 60 })
    writeFileSync(second.certFile, `${second.cert}${above.cert}`)
    swap(first, second)
    await eventually(() => ends.length > 1)
    t.same(ends.at(-1), { own: endOf(above), authorities: endOf(above) })
  },
)

t.test('files that cannot be served change nothing, and are reported once for each content', async t => {
  const first = certificates.issue('broken', { san: 'DNS:localhost' })
  const { url, seen } = await listen(t, { certFile: first.certFile, keyFile: first.keyFile })
  const expired = certificates.issue('expired', { san: 'DNS:localhost', days: -1 })
  const broken: readonly (readonly [string, () => void])[] = [
    [`${first.keyFile} holds the key of another certificate`, () => copyFileSync(server.keyFile, first.keyFile)],
    [`${first.keyFile} holds no private key in PEM without passphrase`, () => writeFileSync(first.keyFile, '')],
    [`${first.keyFile} cannot be read (ENOENT)`, () => rmSync(first.keyFile)],
    [`${first.certFile} expired at`, () => swap(first, expired)],
  ]

  for (const [count, [, breakIt]] of broken.entries()) {
    breakIt()
    await eventually(() => seen.length === count + 1)
    t.equal(serialOf(await handshake(t, url)), serial(first))
  }
  const second = certificates.issue('mended', { san: 'DNS:localhost' })
  swap(first, second)
  await eventually(() => seen.length > broken.length)

  for (const [index, [reason]] of broken.entries()) t.equal(seen[index]?.slice(0, reason.length), reason)
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

t.test('a list of CAs or a chain that is cut off is not taken for the whole', async t => {
  const chain = certificates.issue('chained', { san: 'DNS:localhost' })
  const clientCaFile = `${certificates.dir}/cut-ca.pem`
  const [wholeChain, wholeList] = [`${chain.cert}${ca.cert}`, `${ca.cert}${selfSigned.cert}`]
  writeFileSync(chain.certFile, wholeChain)
  writeFileSync(clientCaFile, wholeList)
  const files = { certFile: chain.certFile, keyFile: chain.keyFile, clientCaFile }
  const { url, seen } = await listen(t, { ...files, clientAuth: 'optional' })

  writeFileSync(clientCaFile, wholeList.slice(0, ca.cert.length + 300))
  await eventually(() => seen.length === 1)
  writeFileSync(clientCaFile, wholeList)
  writeFileSync(chain.certFile, wholeChain.slice(0, -30))
  await eventually(() => seen.length === 2)

  const reason = 'has a BEGIN without its END: it seems to be cut off'
  t.same(seen, [`${clientCaFile} ${reason}`, `${chain.certFile} ${reason}`])
  t.equal(await whoAmI(t, url, selfSigned), 'CN=self-signed true')
})

t.test('one that has expired gives way to another that has: nothing is lost', async t => {
  const first = certificates.issue('old', { san: 'DNS:localhost', days: -1 })
  const { url, seen } = await listen(t, { certFile: first.certFile, keyFile: first.keyFile })
  const second = certificates.issue('later', { san: 'DNS:localhost', days: -1 })

  swap(first, second)
  await eventually(() => seen.length > 0)

  t.equal(serialOf(await handshake(t, url, { rejectUnauthorized: false })), serial(second))
})

t.test('when other CAs verify clients, the connections of clients with a certificate end', async t => {
  const clientCaFile = `${certificates.dir}/withdrawn-ca.pem`
  writeFileSync(clientCaFile, `${ca.cert}${selfSigned.cert}`)
  const { url, seen, held } = await listen(t, { clientAuth: 'optional', clientCaFile })
  const identity = { ...trust, cert: selfSigned.cert, key: selfSigned.key }
  const open = () => openConnection(t, url, identity)
  const [idle, anonymous, waiting, begun] = [open(), openConnection(t, url, trust), open(), open()]
  for (const connection of [idle, anonymous]) await connection.send(request).answer()
  waiting.send(request.replace('/', '/held'))
  begun.send(request.replace('/', '/begun'))
  await eventually(() => held.length === 2)

  writeFileSync(clientCaFile, ca.cert)
  await eventually(() => seen.length > 0)

  t.not(await idle.ended(), 'open')
  for (const answer of held) answer()
  const answers = [await waiting.answer(), await begun.answer()]
  t.same(
    answers.map(({ body }) => body.toString()),
    ['CN=self-signed true', 'CN=self-signed true'],
    'what was being answered is answered',
  )
  t.same(
    answers.map(answer => headerOf(answer, 'connection')),
    ['close', 'keep-alive'],
  )
  for (const connection of [waiting, begun]) t.not(await connection.ended(), 'open')
  t.equal(
    (await anonymous.send(request).answer()).body.toString(),
    'nobody',
    'a client without a certificate stays connected',
  )
  t.equal(await whoAmI(t, url, selfSigned), 'CN=self-signed false')
})

t.test('a new certificate with the same CAs ends no connection', async t => {
  const own = certificates.issue('same-ca', { san: 'DNS:localhost' })
  const files = { certFile: own.certFile, keyFile: own.keyFile, clientCaFile: ca.certFile }
  const { url, seen } = await listen(t, { ...files, clientAuth: 'optional' })
  const open = openConnection(t, url, { ...trust, cert: client.cert, key: client.key }).send(request)
  await open.answer()

  swap(own, certificates.issue('same-ca-renewed', { san: 'DNS:localhost' }))
  await eventually(() => seen.length > 0)

  t.equal((await open.send(request).answer()).body.toString(), 'CN=client true')
})

t.test('files that cannot be served at the start are an error', async t => {
  const report = { serves: () => undefined, renewed: () => undefined, refused: () => undefined }
  const open = (changes: Partial<TlsOptions>) =>
    openTls({ certFile: server.certFile, keyFile: server.keyFile, clientAuth: 'off', ...changes }, report)

  await t.rejects(open({ keyFile: client.keyFile }), /another certificate/)
  await t.rejects(open({ certFile: `${certificates.dir}/none.pem` }), /none\.pem cannot be read \(ENOENT\)/)
  await t.rejects(open({ clientCaFile: server.keyFile }), /server\.key holds no certificate in PEM/)
  const cut = `${certificates.dir}/cut.pem`
  writeFileSync(cut, `${ca.cert}${selfSigned.cert.slice(0, 300)}`)
  await t.rejects(open({ clientCaFile: cut }), /cut\.pem has a BEGIN without its END/)
})
