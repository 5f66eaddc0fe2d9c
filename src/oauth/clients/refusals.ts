import { OAuthError } from '../../errors.ts'

/** What a client is told that has not proven itself. */

/** The refusal of every failed authentication: always the same, so that it tells nothing (RFC 6749 section 5.2). */
export const unauthenticated = (): OAuthError =>
  new OAuthError('invalid_client', 'Client authentication failed', {
    headers: { 'www-authenticate': 'Basic realm="sidegate"' },
  })

/** @param waitMs how long this name and address are refused; 0: not at all */
export const refuseWhenLimited = (waitMs: number): void => {
  if (waitMs <= 0) return
  const retryAfterSec = Math.ceil(waitMs / 1000) // RFC 9110 section 10.2.3: whole seconds
  throw new OAuthError('rate_limit_exceeded', 'Too many failed authentications from this address', {
    headers: { 'retry-after': String(retryAfterSec) },
  })
}

export const invalidRequest = (description: string): OAuthError => new OAuthError('invalid_request', description)
