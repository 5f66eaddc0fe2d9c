import type { ClientRegistration } from '../clients/metadata.ts'

/** Where the answer to an authorization request goes. */
export interface RedirectTarget {
  readonly redirect_uri: string
  /** False where it was left out and the client has only one (RFC 6749 section 3.1.2.3). */
  readonly redirectUriSent: boolean
}

/** The target that a request means, or undefined where there is no telling: then nobody may be redirected. */
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
 * Whether a redirect URI is one of the client's: the same string, byte for byte (RFC 9700 section 2.1). Only a native
 * client's `http` redirect to `127.0.0.1` or `[::1]` may come with any port (RFC 8252 section 7.3).
 */
export const isRegisteredRedirect = (client: ClientRegistration, presented: string): boolean => {
  if (client.redirect_uris.includes(presented)) return true
  if (client.application_type !== 'native') return false
  const portless = withoutLoopbackPort(presented)
  return portless !== undefined && client.redirect_uris.some(uri => withoutLoopbackPort(uri) === portless)
}

/** Adds response parameters to a redirect URI, keeping the query it has (RFC 6749 section 3.1.2). */
export const appendToRedirect = (
  redirect_uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string => {
  const added = Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeURIComponent(value)}`))
    .join('&')
  return redirect_uri + joinerOf(redirect_uri) + added
}

const joinerOf = (uri: string): string => {
  if (!uri.includes('?')) return '?'
  return uri.endsWith('?') || uri.endsWith('&') ? '' : '&'
}

/** `localhost` is not among them: it is a name, and names can be made to point elsewhere (RFC 8252 section 8.3). */
const withoutLoopbackPort = (uri: string): string | undefined => {
  const parts = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::([1-9]\d{0,4}))?(?=[/?]|$)(.*)$/s.exec(uri)
  const [, host = '', port = '80', rest = ''] = parts ?? []
  return parts && Number(port) <= 65_535 ? `${host} ${rest}` : undefined
}
