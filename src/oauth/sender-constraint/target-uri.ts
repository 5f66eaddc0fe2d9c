/**
 * The URI of a request as `htu` of a DPoP proof names it (RFC 9449 section 4.2), in one canonical spelling:
 * equivalent URIs compare equal (RFC 3986 sections 6.2.2 and 6.2.3), and query and fragment are ignored (RFC 9449
 * section 4.3). Undefined if the text is not an http(s) URI, or contains credentials.
 */
export const toTargetUri = (text: string): string | undefined => {
  if (!uriCharacters.test(text) || !URL.canParse(text)) return undefined
  const { origin, username, password, pathname } = new URL(text)
  return username === '' && password === '' ? origin + withPlainEscapes(pathname) : undefined
}

/** A URL parser drops line breaks and takes backslashes for slashes, so texts with these are refused. */
const uriCharacters = /^https?:\/\/[\x21\x23-\x5b\x5d-\x7e]+$/i

/** Writes each escape in one way: unreserved characters without an escape, others with uppercase digits. */
const withPlainEscapes = (path: string): string =>
  path.replace(/%([0-9A-Fa-f]{2})/g, (written, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return unreserved.test(character) ? character : written.toUpperCase()
  })

/** RFC 3986 section 2.3. */
const unreserved = /[A-Za-z0-9._~-]/
