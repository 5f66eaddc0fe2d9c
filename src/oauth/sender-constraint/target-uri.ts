/**
 * The URI of a request as a DPoP proof names it in `htu` (RFC 9449 section 4.2), in one spelling: two spellings of one
 * URI are equal (RFC 3986 sections 6.2.2 and 6.2.3), query and fragment do not count (RFC 9449 section 4.3).
 * Undefined where the text is no http(s) URI, or says more than such a URI does.
 */
export const toTargetUri = (text: string): string | undefined => {
  if (!uriCharacters.test(text) || !URL.canParse(text)) return undefined
  const { origin, username, password, pathname } = new URL(text)
  return username === '' && password === '' ? origin + withPlainEscapes(pathname) : undefined
}

/** A URL parser drops line breaks and takes backslashes for slashes: texts with those name no URI. */
const uriCharacters = /^https?:\/\/[\x21\x23-\x5b\x5d-\x7e]+$/i

/** One spelling of each escape: none where none is needed, else with capital digits. */
const withPlainEscapes = (path: string): string =>
  path.replace(/%([0-9A-Fa-f]{2})/g, (written, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return unreserved.test(character) ? character : written.toUpperCase()
  })

/** RFC 3986 section 2.3. */
const unreserved = /[A-Za-z0-9._~-]/
