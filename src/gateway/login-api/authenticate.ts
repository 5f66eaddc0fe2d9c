import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Request } from '../../http/server/request.ts'
import { timeFault } from '../../http/tls/tls-files.ts'
import type { LoginAppAuthentication } from '../../oauth/interaction/authenticate-login-app.ts'

/**
 * How a client of the private listener may authenticate as the operator's login application. At least one of the two
 * ways is configured.
 */
export interface InternalCallerOptions {
  /** Whether a certificate that is verified by the CA of the listener is accepted. */
  readonly takesCertificates: boolean
  readonly nowMs: () => number
  /** Verifies a signed JWT. Left out: JWTs are not accepted. */
  readonly proof?: LoginAppAuthentication
}

export type InternalCaller =
  | { readonly kind: 'proven' | 'missing' }
  /** `reason` may be sent to the client, which is the operator's own login application. */
  | { readonly kind: 'invalid'; readonly reason: string }

/** @throws StoreUnavailableError if it cannot be found out whether a JWT was used before */
export const proveInternalCaller = async (
  { head, socket }: Request,
  { takesCertificates, nowMs, proof }: InternalCallerOptions,
): Promise<InternalCaller> => {
  if (takesCertificates && isChainVerified(socket, nowMs())) return proven
  const [line, second] = head.fields.authorization
  if (line === undefined) return { kind: 'missing' }
  if (!proof)
    return { kind: 'invalid', reason: 'the configuration has no keys for JWTs; authenticate with a certificate' }
  const token = /^bearer +([\w.-]+)$/i.exec(line)?.[1]
  if (token === undefined || second !== undefined) {
    return { kind: 'invalid', reason: 'Authorization must be one line: Bearer and a JWT' }
  }
  const reason = await proof(token)
  return reason === undefined ? proven : { kind: 'invalid', reason }
}

const proven: InternalCaller = { kind: 'proven' }

/**
 * The certificate was verified by the CA at the handshake, and its own dates are checked again because a connection may
 * stay open for longer.
 */
const isChainVerified = (socket: Socket, nowMs: number): boolean => {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return false
  const certificate = socket.getPeerX509Certificate()
  return certificate !== undefined && timeFault(certificate, nowMs) === undefined
}
