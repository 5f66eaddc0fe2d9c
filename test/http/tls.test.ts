import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { createCertificateReader } from '../../src/http/client-certificate.ts'
import { scanFields } from '../../src/http/fields.ts'
import { openTls } from '../../src/http/tls.ts'
import type { TlsOptions } from '../../src/http/tls-options.ts'
import { createTrafficServer, defaultTrafficServerOptions } from '../../src/http/traffic-server.ts'
import { type CertificateFiles, createCertificates } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { openConnection } from '../support/raw-client.ts'

const certificates = createCertificates(t)
const { ca, server, client, selfSigned } = certificates
const trust = { ca: ca.cert, servername: 'localhost' }
const request = 'GET / HTTP/1.1\r\nHost: gw.test\r\n\r\n'

/** A listening server that answers with the client's name and whether it is vouched for. */
const listen = async (t: Test, changes: Partial<TlsOptions> = {}, limits = defaultTrafficServerOptions) => {
  const options: TlsOptions = { certFile: server.certFile, keyFile: server.keyFile, clientAuth: 'off', ...changes }
  const reader = createCertificateReader({
    clientAuth: options.clientAuth,
    hasClientCa: options.clientCaFile !== undefined,
    header: 'none',
  })
  const seen: string[] = []
  const report = {
    renewed: (validTo: Date) => void seen.push(`renewed until ${validTo.toISOString()}`),
    refused: () => void seen.push('refused'),
  }
  const tls = await openTls(options, report, 20)
  const traffic = createTrafficServer(
    limits,
    {
      request: (req, res) => {
        const found = reader.reader(req.socket, scanFields(req.rawHeaders), false)()
        res.end(found ? `${found.certificate.subject.split('\n').at(-1)} ${found.isVouchedFor}` : 'nobody')
      },
      upgrade: (_req, socket) => void socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n'),
      refused: code => void seen.push(code),
    },
    tls,
  ).listen(0, '127.0.0.1')
  await once(traffic, 'listening')
  t.teardown(() => {
    tls.close()
    traffic.closeAllConnections()
    traffic.close()
  })
  return { url: `https://127.0.0.1:${(traffic.address() as AddressInfo).port}`, seen }
}

/** Who the server takes the client for, or that there is no answer. */
const whoAmI = async (t: Test, url: string, shown: Partial<CertificateFiles> = {}): Promise<string> => {
  const connection = openConnection(t, url, { ...trust, ...identity(shown) }).send(request)
  return connection.answer().then(
    answer => answer.body.toString(),
    () => 'no answer',
  )
}

const identity = ({ cert, key }: Partial<CertificateFiles>): ConnectionOptions => ({
  ...(cert !== undefined && { cert }),
  ...(key !== undefined && { key }),
})

/** The handshake alone. @throws the client's error where there is none */
const handshake = async (t: Test, url: string, options: ConnectionOptions = {}): Promise<TLSSocket> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), ...trust, ...options })
  t.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

/** Puts another pair into the files of the first, without a turn of the event loop between the two. */
const swap = (files: CertificateFiles, other: CertificateFiles): void => {
  copyFileSync(other.certFile, files.certFile)
  copyFileSync(other.keyFile, files.keyFile)
}

const serialOf = (socket: TLSSocket): string | undefined => socket.getPeerX509Certificate()?.serialNumber
const serial = ({ cert }: CertificateFiles): string => new X509Certificate(cert).serialNumber

t.test('a request over TLS is answered, and a client is not asked for a certificate', async t => {
  const { url } = await listen(t)

  t.equal(await whoAmI(t, url), 'nobody')
  t.equal(await whoAmI(t, url, client), 'nobody')
})

t.test('TLS 1.2 has forward secrecy and AEAD alone, and nothing is older', async t => {
  const { url } = await listen(t)
  const agreed = async (options: ConnectionOptions) =>
    handshake(t, url, options).then(
      socket => `${socket.getProtocol()} ${socket.getCipher().standardName}`,
      () => 'refused',
    )

  t.equal(await agreed({}), 'TLSv1.3 TLS_AES_128_GCM_SHA256')
  t.equal(await agreed({ maxVersion: 'TLSv1.2' }), 'TLSv1.2 TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256')
  for (const ciphers of ['ECDHE-ECDSA-AES128-SHA256', 'AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305']) {
    t.equal(await agreed({ maxVersion: 'TLSv1.2', ciphers }), 'refused', ciphers)
  }
  const old: ConnectionOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }
  t.equal(await agreed(old), 'refused')
})

t.test('HTTP/1.1 is what it speaks: HTTP/2 is not agreed to', async t => {
  const { url } = await listen(t)

  t.equal((await handshake(t, url, { ALPNProtocols: ['h2', 'http/1.1'] })).alpnProtocol, 'http/1.1')
  t.equal((await handshake(t, url)).alpnProtocol, false)
  await t.rejects(handshake(t, url, { ALPNProtocols: ['h2'] }))
})

t.test('no session is resumed, so that a certificate is proven each time', async t => {
  const { url } = await listen(t)
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const first = await handshake(t, url, { maxVersion })
    const session = await new Promise<Buffer | undefined>(resolve => {
      first.once('session', resolve)
      first.once('close', () => resolve(first.getSession()))
      first.end()
      first.resume()
    })

    const second = await handshake(t, url, { maxVersion, ...(session && { session }) })
    t.notOk(second.isSessionReused(), maxVersion)
  }
})

t.test('renegotiation is refused', async t => {
  const { url } = await listen(t)
  const socket = await handshake(t, url, { maxVersion: 'TLSv1.2' })

  const outcome = await new Promise(resolve => {
    socket.once('error', resolve)
    socket.renegotiate({}, error => resolve(error ?? 'renegotiated'))
  })

  t.match(outcome, { code: 'ERR_SSL_NO_RENEGOTIATION' })
})

t.test('clientAuth optional: a certificate is seen with whether a CA vouches for it', async t => {
  const { url } = await listen(t, { clientAuth: 'optional', clientCaFile: ca.certFile })

  t.equal(await whoAmI(t, url), 'nobody')
  t.equal(await whoAmI(t, url, client), 'CN=client true')
  t.equal(await whoAmI(t, url, selfSigned), 'CN=self-signed false')
  t.equal(await whoAmI(t, url, certificates.issue('old', { usage: 'clientAuth', days: -1 })), 'CN=old false')
  t.equal(await whoAmI(t, url, certificates.issue('wrong', { usage: 'serverAuth' })), 'CN=wrong false')
})

t.test('without a CA for clients nobody is vouched for', async t => {
  const { url } = await listen(t, { clientAuth: 'optional' })

  t.equal(await whoAmI(t, url, client), 'CN=client false')
})

t.test('clientAuth required: without a certificate of the CA there is no connection', async t => {
  const { url, seen } = await listen(t, { clientAuth: 'required', clientCaFile: ca.certFile })

  t.equal(await whoAmI(t, url, client), 'CN=client true')
  t.equal(await whoAmI(t, url), 'no answer')
  t.equal(await whoAmI(t, url, selfSigned), 'no answer')
  t.equal(await whoAmI(t, url, certificates.issue('late', { usage: 'clientAuth', days: -1 })), 'no answer')
  t.same(seen, [], 'a handshake that failed is no request')
})

t.test('a client that never shakes hands is cut off', async t => {
  const { url } = await listen(t, {}, { ...defaultTrafficServerOptions, headersTimeoutMs: 100 })
  const connection = openConnection(t, url.replace('https', 'http'))

  t.not(await connection.ended(), 'open')
})

t.test('a header that does not come in time is 408 over TLS too', async t => {
  const { url, seen } = await listen(t, {}, { ...defaultTrafficServerOptions, headersTimeoutMs: 300 })
  const connection = openConnection(t, url, trust).send('GET / HTTP/1.1\r\nHost: gw')

  t.equal((await connection.answer()).status, 408)
  t.same(seen, ['REQUEST_TIMEOUT'])
})

t.test('plain HTTP on the TLS port is cut off, and nobody else notices', async t => {
  const { url, seen } = await listen(t)
  const connection = openConnection(t, url.replace('https', 'http')).send(request)

  t.not(await connection.ended(), 'open')
  t.equal(await whoAmI(t, url), 'nobody')
  t.same(seen, [])
})

t.test('a WebSocket handshake works over TLS', async t => {
  const { url } = await listen(t)
  const bytes = 'GET / HTTP/1.1\r\nHost: gw.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

  t.equal((await openConnection(t, url, trust).send(bytes).answer()).status, 101)
})

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
