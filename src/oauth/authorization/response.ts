import type { OAuthErrorCode } from '../../errors.ts'
import type { OAuthReply } from '../protocol.ts'
import { appendToRedirect } from './redirect-uri.ts'

/** The redirect URI of an authorization response, and the state by which the client recognises it. */
export interface ResponseAddress {
  readonly redirect_uri: string
  /** As the client sent it; left out if it sent none (RFC 6749 section 4.1.2). */
  readonly state?: string
}

/**
 * The error codes that a redirect may carry: RFC 6749 section 4.1.2.1, RFC 8707 section 2, RFC 9101 section 7,
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
 * The redirect URI with an error. The description repeats nothing of the request. The URI gets a fragment of its own,
 * because a browser otherwise keeps the fragment of the URL that it requested, and a link to this server may have had
 * any fragment (RFC 9700 section 4.1.3). A redirect with a code needs none: it follows a form, whose URL has no
 * fragment.
 */
export const toErrorRedirect = (
  address: ResponseAddress,
  error: AuthorizationErrorCode,
  error_description: string,
  issuer: string,
): string =>
  `${appendToRedirect(address.redirect_uri, { error, error_description, state: address.state, iss: issuer })}#_`

/** 303: the browser follows with a GET and never forwards the password form (RFC 9700 section 4.12). */
export const seeOther = (location: string, headers: OAuthReply['headers'] = {}): OAuthReply => ({
  status: 303,
  headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', ...headers },
  body: undefined,
})
