import { randomUUID } from 'node:crypto'
import type { AddressReader } from './peer/client-ip.ts'
import type { Request } from './server/request.ts'
import type { RequestFields } from './server/request-fields.ts'
import type { Response } from './server/response.ts'
import type { CertificateReader, PeerCertificate } from './tls/client-certificate.ts'

/** One request in the gateway, with the facts that do not depend on its operation. */
export interface RequestContext {
  readonly request: Request
  readonly response: Response
  readonly method: string
  /** X-Request-Id: that of a trusted peer, or a new one. */
  readonly id: string
  /** The client's address, behind trusted proxies. */
  readonly address: string
  /** The address of the connection's other end. */
  readonly peer: string
  /** Whether the peer's X-Forwarded-* is trusted. */
  readonly trustedPeer: boolean
  /** Whether the connection itself is TLS. */
  readonly isSecure: boolean
  readonly fields: RequestFields
  /** The certificate of the client, read on the first call. Undefined: the client sent none. */
  readonly clientCertificate: () => PeerCertificate | undefined
  /** `performance.now()` when the header had been read. */
  readonly startedAtMs: number
}

/** The readers of the client's address and certificate. */
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
    id: trustedPeer ? trustedId(fields.requestId) : randomUUID(),
    address: trustedPeer ? addresses.read(peer, fields.forwardedFor) : peer,
    peer,
    trustedPeer,
    isSecure: 'encrypted' in socket,
    fields,
    clientCertificate: certificates.reader(socket, fields, trustedPeer),
    startedAtMs: request.startedAtMs,
  }
}

/**
 * Whether the client waits for 100 Continue before it sends its body. HTTP/1.0 has no interim responses (RFC 9110
 * section 10.1.1).
 */
export const expectsContinue = ({ fields, request }: RequestContext): boolean =>
  fields.expect !== undefined && request.head.versionMinor > 0

/** An id is written to logs and headers, so it must be printable, without quotes, and short. */
const trustedId = (id: string | undefined): string =>
  id !== undefined && /^[A-Za-z0-9._:/+=-]{1,128}$/.test(id) ? id : randomUUID()
