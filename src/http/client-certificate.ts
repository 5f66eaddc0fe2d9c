import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { RequestFields } from './fields.ts'
import { parseClientCert, parseForwardedClientCert } from './forwarded-certificate.ts'
import type { ClientAuth, ClientCertificateHeader } from './tls-options.ts'

/** The certificate whose key the client holds. */
export interface PeerCertificate {
  readonly certificate: X509Certificate
  /** Whether a CA that the operator named, or the trusted proxy that passed it on, vouches for it. */
  readonly isVouchedFor: boolean
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
  const believed = header === 'auto' && clientAuth !== 'off' ? 'none' : header
  const bySocket = new WeakMap<TLSSocket, PeerCertificate | undefined>()

  const ofSocket = (socket: TLSSocket): PeerCertificate | undefined => {
    if (bySocket.has(socket)) return bySocket.get(socket)
    const certificate = socket.getPeerX509Certificate()
    const found = certificate && { certificate, isVouchedFor: hasClientCa && socket.authorized }
    bySocket.set(socket, found)
    return found
  }

  return {
    reader(socket, fields, isTrustedPeer) {
      // A proxy's own certificate, where it shows one, says nothing of the client behind it.
      if (isTrustedPeer && believed !== 'none') return saysOne(fields) ? once(() => ofFields(fields, believed)) : noOne
      return clientAuth !== 'off' && socket instanceof TLSSocket ? () => ofSocket(socket) : noOne
    },
  }
}

const noOne = (): undefined => undefined

const saysOne = ({ clientCert, forwardedClientCert }: RequestFields): boolean =>
  clientCert !== undefined || forwardedClientCert !== undefined

/** Where both fields are believed and do not agree, or one of them cannot be read, neither is. */
const ofFields = (
  { clientCert, forwardedClientCert }: RequestFields,
  believed: Exclude<ClientCertificateHeader, 'none'>,
): PeerCertificate | undefined => {
  const sayings = [
    ...(clientCert === undefined || believed === 'x-forwarded-client-cert' ? [] : [parseClientCert(clientCert)]),
    ...(forwardedClientCert === undefined || believed === 'client-cert'
      ? []
      : [parseForwardedClientCert(forwardedClientCert)]),
  ]
  const [certificate] = sayings
  if (!certificate || sayings.some(other => !other?.raw.equals(certificate.raw))) return undefined
  return { certificate, isVouchedFor: true }
}

const once = <T>(find: () => T): (() => T) => {
  let found: { readonly value: T } | undefined
  return () => {
    found ??= { value: find() }
    return found.value
  }
}
