import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { RequestFields } from '../server/request-fields.ts'
import { parseClientCert, parseForwardedClientCert } from './forwarded-certificate.ts'
import type { ClientAuth, ClientCertificateHeader } from './tls-options.ts'

/** The client's certificate. */
export interface PeerCertificate {
  readonly certificate: X509Certificate
  /** Whether it was verified by a CA of the configuration, or by the trusted proxy that forwarded it. */
  readonly isChainVerified: boolean
}

/** Reads the client's certificate from the TLS layer, or from a header field of a trusted proxy. */
export interface CertificateReader {
  /** Returns a lazy, memoised reader of the client's certificate. */
  reader(socket: Socket, fields: RequestFields, isTrustedPeer: boolean): () => PeerCertificate | undefined
}

export interface CertificateReaderOptions {
  readonly clientAuth: ClientAuth
  /** Whether `clientCaFile` has a CA. */
  readonly hasClientCa: boolean
  /** The header field in which a trusted proxy sends the certificate. */
  readonly header: ClientCertificateHeader
}

/** RFC 8705 section 6.5, RFC 9440 section 4: these fields are not read if another client sends them. */
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
      // The certificate of a proxy does not identify the client behind it.
      if (isTrustedPeer && header !== 'none') {
        const text = header === 'client-cert' ? fields.clientCert : fields.forwardedClientCert
        return text === undefined ? noCertificate : once(() => ofProxy(text, header))
      }
      return clientAuth !== 'off' && socket instanceof TLSSocket ? () => ofSocket(socket) : noCertificate
    },
  }
}

const noCertificate = (): undefined => undefined

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
