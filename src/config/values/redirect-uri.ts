const loopbackHosts = ['127.0.0.1', '[::1]', 'localhost']

/**
 * The fault of a redirect URI and its correction, or undefined if it may be registered (RFC 6749 section 3.1.2, RFC
 * 8252 section 7, RFC 9700 section 2.6).
 */
export const redirectUriFault = (uri: string): string | undefined => {
  if (!/^[\x21-\x7e]+$/.test(uri) || /["<>\\^`{|}]/.test(uri))
    return 'is not a URI; percent-encode characters that RFC 3986 does not allow'
  if (uri.includes('#')) return 'has a fragment; remove it (RFC 6749 section 3.1.2)'
  if (uri.includes('*'))
    return 'has a wildcard, but redirect URIs are compared exactly; list each one (RFC 9700 section 2.1)'
  const scheme = /^([A-Za-z][\w+.-]*):/.exec(uri)?.[1]?.toLowerCase()
  if (!scheme || !URL.canParse(uri)) return 'not absolute; begin it with https://'
  if (scheme === 'http' || scheme === 'https') return webUriFault(uri, scheme)
  if (!scheme.includes('.'))
    return 'a private-use scheme has a dot, such as com.example.app:/callback (RFC 8252 section 7.1)'
  return undefined
}

const webUriFault = (uri: string, scheme: 'http' | 'https'): string | undefined => {
  const url = new URL(uri)
  if (!/^https?:\/\/[^/]/i.test(uri)) return 'has no host; write it as https://host/path'
  if (url.username || url.password || uri.split('/')[2]?.includes('@'))
    return 'contains user information; remove the part before the @'
  if (scheme === 'http' && !loopbackHosts.includes(url.hostname)) {
    return 'http is only for 127.0.0.1, [::1] and localhost; use https'
  }
  return undefined
}
