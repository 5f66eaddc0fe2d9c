import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import type { CertificateEnds } from '../../../src/http/certificate-ends.ts'
import { createCertificateReader } from '../../../src/http/client-certificate.ts'
import { scanFields } from '../../../src/http/fields.ts'
import { openTls } from '../../../src/http/tls.ts'
import type { TlsOptions } from '../../../src/http/tls-options.ts'
import { createTrafficServer, type DropReason, defaultTrafficServerOptions } from '../../../src/http/traffic-server.ts'
import { type CertificateFiles, createCertificates } from '../../support/certificates.ts'
import { openConnection } from '../../support/raw-client.ts'

/** A traffic server that speaks TLS, and those who connect to it. */

/** Made once for the file that runs. */
export const certificates = createCertificates(t)
const { ca, server } = certificates
export const trust = { ca: ca.cert, servername: 'localhost' }
export const request = 'GET / HTTP/1.1\r\nHost: gw.test\r\n\r\n'

/**
 * A listening server that answers with the client's name and whether it is vouched for: at `/` at once, at `/held` when the
 * test lets it, at `/begun` with its header sent before that.
 */
export const listen = async (t: Test, changes: Partial<TlsOptions> = {}, limits = defaultTrafficServerOptions) => {
  const options: TlsOptions = { certFile: server.certFile, keyFile: server.keyFile, clientAuth: 'off', ...changes }
  const reader = createCertificateReader({
    clientAuth: options.clientAuth,
    hasClientCa: options.clientCaFile !== undefined,
    header: 'none',
  })
  const seen: string[] = []
  const drops: DropReason[] = []
  const held: (() => void)[] = []
  const ends: CertificateEnds[] = []
  const report = {
    serves: (now: CertificateEnds) => void ends.push(now),
    renewed: (validTo: Date) => void seen.push(`renewed until ${validTo.toISOString()}`),
    refused: (reason: string) => void seen.push(reason),
  }
  const tls = await openTls(options, report, 20)
  const { server: traffic } = createTrafficServer(
    limits,
    {
      request: (req, res) => {
        const found = reader.reader(req.socket, scanFields(req.rawHeaders), false)()
        const name = found ? `${found.certificate.subject.split('\n').at(-1)} ${found.isVouchedFor}` : 'nobody'
        if (req.url === '/begun') res.flushHeaders()
        if (req.url === '/') res.end(name)
        else held.push(() => res.end(name))
      },
      upgrade: (_req, socket) => void socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n'),
      refused: code => void seen.push(code),
      dropped: reason => void drops.push(reason),
    },
    tls,
  )
  traffic.listen(0, '127.0.0.1')
  await once(traffic, 'listening')
  t.teardown(() => {
    tls.close()
    traffic.closeAllConnections()
    traffic.close()
  })
  return { url: `https://127.0.0.1:${(traffic.address() as AddressInfo).port}`, seen, drops, held, ends }
}

/** Who the server takes the client for, or that there is no answer. */
export const whoAmI = async (t: Test, url: string, shown: Partial<CertificateFiles> = {}): Promise<string> => {
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
export const handshake = async (t: Test, url: string, options: ConnectionOptions = {}): Promise<TLSSocket> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), ...trust, ...options })
  t.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}
