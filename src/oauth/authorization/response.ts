import type { OAuthErrorCode } from '../../errors.ts'
import type { OAuthReply } from '../protocol.ts'
import { appendToRedirect } from './redirect-uri.ts'

/** Where an authorization response goes and what the client recognises it by. */
export interface ResponseAddress {
  readonly redirect_uri: string
  /** As it was sent; left out where none was (RFC 6749 section 4.1.2). */
  readonly state?: string
}

/**
 * The codes of an error that travels by redirect: RFC 6749 section 4.1.2.1, RFC 8707 section 2, RFC 9101 section 7,
 * OpenID Connect Core section 3.1.2.6.
 */
export type AuthorizationErrorCode = Extract<
  OAuthErrorCode,
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_dpop_proof'
  | 'invalid_request_object'
  | 'invalid_request_uri'
  | 'request_uri_not_supported'
  | 'login_required'
  | 'temporarily_unavailable'
>

/** The redirect URI with a code, `state` and `iss` (RFC 9207 section 2). */
export const toCodeRedirect = (address: ResponseAddress, code: string, issuer: string): string =>
  appendToRedirect(address.redirect_uri, { code, state: address.state, iss: issuer })

/**
 * The redirect URI with an error. The description is ours alone: it repeats nothing of the request. A redirect that has
 * no fragment takes over that of the address that it answers, and a link to us may have had any (RFC 9700 section 4.1.3);
 * one with a code answers a form, whose address has none.
 */
export const toErrorRedirect = (
  address: ResponseAddress,
  error: AuthorizationErrorCode,
  error_description: string,
  issuer: string,
): string =>
  `${appendToRedirect(address.redirect_uri, { error, error_description, state: address.state, iss: issuer })}#_`

/** 303: the browser follows with a GET and never sends a password form on (RFC 9700 section 4.12). */
export const seeOther = (location: string, headers: OAuthReply['headers'] = {}): OAuthReply => ({
  status: 303,
  headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', ...headers },
  body: undefined,
})
