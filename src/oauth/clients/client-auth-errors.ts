import { type ClientAuthFailureReason, OAuthError } from '../../errors.ts'

/** The errors that a client gets when it has not authenticated. */

/**
 * The refusal of every failed authentication. The text is always the same, so that it tells an attacker nothing (RFC
 * 6749 section 5.2).
 * @param proofFault the reason, for the operator
 * @param client_id only of an existing client: another text that was sent as client_id may be a secret in the wrong
 * field
 */
export const unauthenticated = (proofFault?: ClientAuthFailureReason, client_id?: string): OAuthError =>
  new OAuthError('invalid_client', 'Client authentication failed', {
    headers: { 'www-authenticate': 'Basic realm="sidegate"' },
    proofFault,
    client_id,
  })

export const invalidRequest = (description: string): OAuthError => new OAuthError('invalid_request', description)
