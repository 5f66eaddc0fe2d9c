import type { GatewayErrorCode } from '../../errors.ts'

/** Why a round trip failed, as the metric says it. */
export type UpstreamFailure = 'connect' | 'timeout' | 'reset' | 'reset_mid_body' | 'invalid' | 'client_gone'

/** The answer's body is coded for the transfer in a way that ends here and that we do not undo. */
export class UnreadableCodingError extends Error {
  override readonly name = 'UnreadableCodingError'
}

/** What undici's error means: the answer to the caller, and the reason for the metric. */
export const toUpstreamFailure = (
  error: Error,
): { readonly code: GatewayErrorCode; readonly reason: UpstreamFailure } => {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return { code: 'UPSTREAM_TIMEOUT', reason: 'timeout' }
  if (
    code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH' ||
    code === 'UND_ERR_INVALID_ARG' ||
    code === 'UND_ERR_NOT_SUPPORTED'
  ) {
    return { code: 'BAD_REQUEST', reason: 'client_gone' }
  }
  if (
    error instanceof UnreadableCodingError ||
    error.name === 'HTTPParserError' ||
    code === 'UND_ERR_HEADERS_OVERFLOW' ||
    code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
  ) {
    return { code: 'UPSTREAM_INVALID', reason: 'invalid' }
  }
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE') {
    return { code: 'UPSTREAM_UNREACHABLE', reason: 'reset' }
  }
  return { code: 'UPSTREAM_UNREACHABLE', reason: 'connect' }
}
