import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { RequestFields } from '../server/request-fields.ts'
import { parseClientCert, parseForwardedClientCert } from './forwarded-certificate.ts'
import type { ClientAuth, ClientCertificateHeader } from './tls-options.ts'

/** The certificate whose key the client holds. */
export interface PeerCertificate {
  readonly certificate: X509Certificate
  /** Whether a CA that the operator named, or the trusted proxy that passed it on, vouches for it. */
  readonly isChainVerified: boolean
}

/** Who the other end is by its certificate: by the TLS layer's word, or by a trusted proxy's and nobody else's. */
export interface CertificateReader {
  /** The certificate as a question that is asked when it matters; the answer is remembered. */
  reader(socket: Socket, fields: RequestFields, isTrustedPeer: boolean): () => PeerCertificate | undefined
}

export interface CertificateReaderOptions {
  readonly clientAuth: ClientAuth
  /** Whether `clientCaFile` names anybody who can vouch. */
  readonly hasClientCa: boolean
  /** What a trusted proxy is believed. */
  readonly header: ClientCertificateHeader
}

/** RFC 8705 section 6.5, RFC 9440 section 4: what any other client says in these fields is not even read. */
export const createCertificateReader = ({
  clientAuth,
  hasClientCa,
  header,
}: CertificateReaderOptions): CertificateReader => {
  const bySocket = new WeakMap<TLSSocket, PeerCertificate | undefined>()

  const ofSocket = (socket: TLSSocket): PeerCertificate | undefined => {
    if (bySocket.has(socket)) return bySocket.get(socket)
    const certificate = socket.getPeerX509Certificate()
    const found = certificate && { certificate, isChainVerified: hasClientCa && socket.authorized }
    bySocket.set(socket, found)
    return found
  }

  return {
    reader(socket, fields, isTrustedPeer) {
      // A proxy's own certificate, where it shows one, says nothing of the client behind it.
      if (isTrustedPeer && header !== 'none') {
        const text = header === 'client-cert' ? fields.clientCert : fields.forwardedClientCert
        return text === undefined ? noOne : once(() => ofProxy(text, header))
      }
      return clientAuth !== 'off' && socket instanceof TLSSocket ? () => ofSocket(socket) : noOne
    },
  }
}

const noOne = (): undefined => undefined

const ofProxy = (text: string, header: Exclude<ClientCertificateHeader, 'none'>): PeerCertificate | undefined => {
  const certificate = header === 'client-cert' ? parseClientCert(text) : parseForwardedClientCert(text)
  return certificate && { certificate, isChainVerified: true }
}

const once = <T>(find: () => T): (() => T) => {
  let found: { readonly value: T } | undefined
  return () => {
    found ??= { value: find() }
    return found.value
  }
}
