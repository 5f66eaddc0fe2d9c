import type { ClientRegistration } from '../clients/metadata.ts'

/** The redirect URI that the authorization response is sent to. */
export interface RedirectTarget {
  readonly redirect_uri: string
  /** False if the request left it out and the client has only one (RFC 6749 section 3.1.2.3). */
  readonly redirectUriSent: boolean
}

/** The redirect target of a request, or undefined if the request identifies none. Then no redirect may be sent. */
export const findRedirectTarget = (
  client: ClientRegistration,
  presented: string | undefined,
): RedirectTarget | undefined => {
  if (presented !== undefined) {
    return isRegisteredRedirect(client, presented) ? { redirect_uri: presented, redirectUriSent: true } : undefined
  }
  const [only, second] = client.redirect_uris
  return only !== undefined && second === undefined ? { redirect_uri: only, redirectUriSent: false } : undefined
}

/**
 * Whether the client has registered this redirect URI: the two strings must be equal (RFC 9700 section 2.1). Only the
 * `http` redirect of a native client to `127.0.0.1` or `[::1]` may have any port (RFC 8252 section 7.3).
 */
export const isRegisteredRedirect = (client: ClientRegistration, presented: string): boolean => {
  if (client.redirect_uris.includes(presented)) return true
  if (client.application_type !== 'native') return false
  const portless = withoutLoopbackPort(presented)
  return portless !== undefined && client.redirect_uris.some(uri => withoutLoopbackPort(uri) === portless)
}

/** Adds response parameters to a redirect URI and keeps its query (RFC 6749 section 3.1.2). */
export const appendToRedirect = (
  redirect_uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string => {
  const added = Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeURIComponent(value)}`))
    .join('&')
  return redirect_uri + separatorOf(redirect_uri) + added
}

const separatorOf = (uri: string): string => {
  if (!uri.includes('?')) return '?'
  return uri.endsWith('?') || uri.endsWith('&') ? '' : '&'
}

/** `localhost` does not count: it is a name, and a name may resolve to another host (RFC 8252 section 8.3). */
const withoutLoopbackPort = (uri: string): string | undefined => {
  const parts = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::([1-9]\d{0,4}))?(?=[/?]|$)(.*)$/s.exec(uri)
  const [, host = '', port = '80', rest = ''] = parts ?? []
  return parts && Number(port) <= 65_535 ? `${host} ${rest}` : undefined
}
