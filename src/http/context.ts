import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressReader, plainAddress } from './address.ts'
import type { CertificateReader, PeerCertificate } from './client-certificate.ts'
import { type RequestFields, scanFields } from './fields.ts'

/** One request on its way through the gateway: what is known of it before anybody looks at what it asks. */
export interface RequestContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
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

export const createContext = (req: IncomingMessage, res: ServerResponse, readers: PeerReaders): RequestContext => {
  const { addresses, certificates } = readers
  const startedAtMs = performance.now()
  const fields = scanFields(req.rawHeaders)
  const remote = req.socket.remoteAddress ?? ''
  const peer = remote.startsWith('::ffff:') ? (plainAddress(remote) ?? remote) : remote
  const trustedPeer = addresses.isTrusted(peer)
  return {
    req,
    res,
    id: trustedPeer ? believedId(fields.requestId) : randomUUID(),
    address: trustedPeer ? addresses.read(peer, fields.forwardedFor) : peer,
    peer,
    trustedPeer,
    isSecure: 'encrypted' in req.socket,
    fields,
    clientCertificate: certificates.reader(req.socket, fields, trustedPeer),
    startedAtMs,
  }
}

/** Whether the client waits to be told to send its body; HTTP/1.0 knows no interim answer (RFC 9110 section 10.1.1). */
export const expectsContinue = ({ fields, req }: RequestContext): boolean =>
  fields.expect !== undefined && req.httpVersionMinor > 0

/** An id goes into logs and headers: printable, without quotes, and short. */
const believedId = (id: string | undefined): string =>
  id !== undefined && /^[A-Za-z0-9._:/+=-]{1,128}$/.test(id) ? id : randomUUID()
