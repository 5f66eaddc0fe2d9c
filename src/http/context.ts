import { randomUUID } from 'node:crypto'
import type { AddressReader } from './peer/client-ip.ts'
import type { Request } from './server/request.ts'
import type { RequestFields } from './server/request-fields.ts'
import type { Response } from './server/response.ts'
import type { CertificateReader, PeerCertificate } from './tls/client-certificate.ts'

/** One request on its way through the gateway: what is known of it before anybody looks at what it asks. */
export interface RequestContext {
  readonly request: Request
  readonly response: Response
  readonly method: string
  /** X-Request-Id: the trusted peer's, or ours. */
  readonly id: string
  /** The client's address, trusted proxies resolved. */
  readonly address: string
  /** The connection's other end. */
  readonly peer: string
  /** Whether the peer's X-Forwarded-* is believed. */
  readonly trustedPeer: boolean
  /** Whether the connection itself is TLS. */
  readonly isSecure: boolean
  readonly fields: RequestFields
  /** The certificate that the client holds; read when it is asked for, once. Undefined: it showed none. */
  readonly clientCertificate: () => PeerCertificate | undefined
  /** `performance.now()` when the header had been read. */
  readonly startedAtMs: number
}

/** What tells the other end of a connection. */
export interface PeerReaders {
  readonly addresses: AddressReader
  readonly certificates: CertificateReader
}

export const createContext = (request: Request, response: Response, readers: PeerReaders): RequestContext => {
  const { addresses, certificates } = readers
  const { head, peer, socket } = request
  const { fields } = head
  const trustedPeer = addresses.isTrusted(peer)
  return {
    request,
    response,
    method: head.method,
    id: trustedPeer ? believedId(fields.requestId) : randomUUID(),
    address: trustedPeer ? addresses.read(peer, fields.forwardedFor) : peer,
    peer,
    trustedPeer,
    isSecure: 'encrypted' in socket,
    fields,
    clientCertificate: certificates.reader(socket, fields, trustedPeer),
    startedAtMs: request.startedAtMs,
  }
}

/** Whether the client waits to be told to send its body; HTTP/1.0 knows no interim answer (RFC 9110 section 10.1.1). */
export const expectsContinue = ({ fields, request }: RequestContext): boolean =>
  fields.expect !== undefined && request.head.versionMinor > 0

/** An id goes into logs and headers: printable, without quotes, and short. */
const believedId = (id: string | undefined): string =>
  id !== undefined && /^[A-Za-z0-9._:/+=-]{1,128}$/.test(id) ? id : randomUUID()
