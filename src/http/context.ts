import { randomBytes, randomUUID } from 'node:crypto'
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

/** W3C Trace Context: the client's `traceparent` with a span of our own, or a new trace. */
export const traceparentOf = (received: string | undefined): string => {
  const parts =
    received === undefined ? null : /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/.exec(received)
  return parts ? `00-${parts[1]}-${randomHex(8)}-${parts[2]}` : `00-${randomHex(16)}-${randomHex(8)}-00`
}

const pool = { hex: '', offset: 0 }
const poolBytes = 4096

/** Random bytes as hex, drawn from a pool: a system call for thousands of requests, not for each. */
const randomHex = (bytes: number): string => {
  if (pool.offset + bytes * 2 > pool.hex.length) {
    pool.hex = randomBytes(poolBytes).toString('hex')
    pool.offset = 0
  }
  pool.offset += bytes * 2
  return pool.hex.slice(pool.offset - bytes * 2, pool.offset)
}
