import { OAuthError } from '../../errors.ts'
import type { OAuthRequest } from '../protocol.ts'
import type { SingleUse } from '../replay-protection.ts'
import type { ProofCheck } from './dpop-proof-check.ts'

/** The DPoP key that the code of an authorization request is bound to (RFC 9449 section 10). */
export interface PushedKey {
  /** Left out: the code is bound to no key. */
  readonly jkt?: string
  /** Headers of the response. */
  readonly headers: Readonly<Record<string, string>>
  /** The replay check of the proof, if there was one. */
  readonly pendingReplayChecks: readonly SingleUse[]
}

/**
 * For pushed authorization requests (RFC 9449 section 10.1): a proof in the header of the request names the key, as
 * the parameter `dpop_jkt` does.
 * @throws OAuthError invalid_request if the two name different keys, or if `dpop_jkt` is malformed; also what
 * ProofCheck throws
 */
export const provePushedKey = (
  checkProof: ProofCheck,
  request: OAuthRequest,
  dpop_jkt: string | undefined,
): PushedKey => {
  const named = parseThumbprint(dpop_jkt)
  if (request.dpop.length === 0)
    return { ...(named !== undefined && { jkt: named }), headers: {}, pendingReplayChecks: [] }
  const { jkt, headers, use } = checkProof(request)
  if (named !== undefined && named !== jkt) {
    throw new OAuthError('invalid_request', 'The dpop_jkt is not the thumbprint of the key of the DPoP proof')
  }
  return { jkt, headers, pendingReplayChecks: [use] }
}

/** Checks that a sent `dpop_jkt` is a SHA-256 thumbprint (RFC 9449 section 10). */
const parseThumbprint = (dpop_jkt: string | undefined): string | undefined => {
  if (dpop_jkt !== undefined && !/^[A-Za-z0-9_-]{43}$/.test(dpop_jkt)) {
    throw new OAuthError('invalid_request', 'The dpop_jkt is not a SHA-256 thumbprint')
  }
  return dpop_jkt
}
