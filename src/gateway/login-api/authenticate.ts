import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Request } from '../../http/server/request.ts'
import { timeFault } from '../../http/tls/tls-files.ts'
import type { LoginAppAuthentication } from '../../oauth/interaction/authenticate-login-app.ts'

/** How whoever calls the private listener may prove to be the operator's login. At least one of the two is there. */
export interface InternalCallerOptions {
  /** A certificate that the listener's own CA vouches for is proof. */
  readonly takesCertificates: boolean
  readonly nowMs: () => number
  /** A signed JWT is proof. Left out: none is. */
  readonly proof?: LoginAppAuthentication
}

export type InternalCaller =
  | { readonly kind: 'proven' | 'missing' }
  /** `reason` is fit for the caller: whoever comes here builds the operator's own login. */
  | { readonly kind: 'invalid'; readonly reason: string }

/** @throws StoreUnavailableError where nobody can tell whether a JWT was used before */
export const proveInternalCaller = async (
  { head, socket }: Request,
  { takesCertificates, nowMs, proof }: InternalCallerOptions,
): Promise<InternalCaller> => {
  if (takesCertificates && isChainVerified(socket, nowMs())) return proven
  const [line, second] = head.fields.authorization
  if (line === undefined) return { kind: 'missing' }
  if (!proof) return { kind: 'invalid', reason: 'the configuration has no keys for JWTs: show a certificate' }
  const token = /^bearer +([\w.-]+)$/i.exec(line)?.[1]
  if (token === undefined || second !== undefined) {
    return { kind: 'invalid', reason: 'Authorization must be one line: Bearer and a JWT' }
  }
  const reason = await proof(token)
  return reason === undefined ? proven : { kind: 'invalid', reason }
}

const proven: InternalCaller = { kind: 'proven' }

/** By the CA at the handshake, and still by the certificate's own dates: a connection may be kept for longer. */
const isChainVerified = (socket: Socket, nowMs: number): boolean => {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return false
  const certificate = socket.getPeerX509Certificate()
  return certificate !== undefined && timeFault(certificate, nowMs) === undefined
}
