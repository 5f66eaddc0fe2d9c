import { type ClientAuthFailureReason, OAuthError, type OAuthErrorFacts } from '../../errors.ts'

/** What a client is told that has not proven itself. */

/**
 * The refusal of every failed authentication: always the same, so that it tells nothing (RFC 6749 section 5.2).
 * @param proofFault why, for the operator
 * @param client_id of a client that there is: what else somebody sends as its name may be a secret in the wrong place
 */
export const unauthenticated = (proofFault?: ClientAuthFailureReason, client_id?: string): OAuthError =>
  new OAuthError('invalid_client', 'Client authentication failed', {
    headers: { 'www-authenticate': 'Basic realm="sidegate"' },
    proofFault,
    client_id,
  })

/**
 * @param waitMs how long this name and address are refused; 0: not at all
 * @param proofFault of the proof that was one too many, for the operator
 */
export const refuseWhenLimited = (waitMs: number, proofFault?: ClientAuthFailureReason, client_id?: string): void => {
  if (waitMs > 0) throw limited('Too many failed authentications from this address', waitMs, { proofFault, client_id })
}

/** @param waitMs how long nothing more may be begun from this address; 0: something may */
export const refuseWhenCrowded = (waitMs: number): void => {
  if (waitMs > 0) throw limited('Too many authorization requests from this address', waitMs)
}

const limited = (
  description: string,
  waitMs: number,
  facts: Pick<OAuthErrorFacts, 'proofFault' | 'client_id'> = {},
): OAuthError => {
  const retryAfterSec = Math.ceil(waitMs / 1000) // RFC 9110 section 10.2.3: whole seconds
  return new OAuthError('rate_limit_exceeded', description, {
    headers: { 'retry-after': String(retryAfterSec) },
    ...facts,
  })
}

export const invalidRequest = (description: string): OAuthError => new OAuthError('invalid_request', description)
