import { once } from 'node:events'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { createHttpServer } from '../../../src/http/server/http-server.ts'
import { type DropReason, defaultHttpServerOptions } from '../../../src/http/server/options.ts'
import { createCertificateReader } from '../../../src/http/tls/client-certificate.ts'
import type { CertificateEnds } from '../../../src/http/tls/pem.ts'
import { openTls } from '../../../src/http/tls/tls.ts'
import type { TlsOptions } from '../../../src/http/tls/tls-options.ts'
import { type CertificateFiles, createCertificates } from '../../support/certificates.ts'
import { openConnection } from '../../support/raw-client.ts'
import { listenOn, reply, switchingProtocols } from './http-server.ts'

/** An HTTP server with TLS, and its clients. */

/** Made once for the file that runs. */
export const certificates = createCertificates(t)
const { ca, server } = certificates
export const trust = { ca: ca.cert, servername: 'localhost' }
export const request = 'GET / HTTP/1.1\r\nHost: gw.test\r\n\r\n'

/**
 * A listening server that answers with the client's name and whether its certificate is verified: at `/` at once, at
 * `/held` when the test lets it, at `/begun` with its header sent before that.
 */
export const listen = async (t: Test, changes: Partial<TlsOptions> = {}, limits = defaultHttpServerOptions) => {
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
  const http = createHttpServer(
    limits,
    {
      request: ({ head, socket, upgrade }, response) => {
        const found = reader.reader(socket, head.fields, false)()
        const name = found ? `${found.certificate.subject.split('\n').at(-1)} ${found.isChainVerified}` : 'nobody'
        if (head.asksForWebSocket) {
          upgrade().end(switchingProtocols)
        } else if (head.target === '/') {
          reply(response, name)
        } else if (head.target === '/begun') {
          response.writeHead({ status: 200, lines: '', length: String(name.length), hasDate: false })
          response.flush()
          held.push(() => response.end(name))
        } else {
          held.push(() => reply(response, name))
        }
      },
      refused: code => void seen.push(code),
      dropped: reason => void drops.push(reason),
    },
    tls,
  )
  t.teardown(() => tls.close())
  const url = (await listenOn(t, http, http.createListener())).replace('http', 'https')
  return { url, seen, drops, held, ends }
}

/** The server's view of the client, or that there is no response. */
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

/** The handshake alone. @throws the client's error if it fails */
export const handshake = async (t: Test, url: string, options: ConnectionOptions = {}): Promise<TLSSocket> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), ...trust, ...options })
  t.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}
