/** The request target: the path in the one form that routing, authorization and the upstream all see. */
export interface RequestTarget {
  /** Starts with `/`; unreserved characters decoded, no dot segments. */
  readonly path: string
  /** Raw, without `?`; empty where there is none. */
  readonly query: string
}

const suspicious = /[%\\;]|\/[./]|[^\x21-\x7e]/
const unreserved = /[A-Za-z0-9._~-]/
/** `%2f %5c %3b`, control characters and malformed escapes: read differently by different servers. */
const ambiguous = /%(?:2[fF]|5[cC]|3[bB]|[01][0-9A-Fa-f]|7[fF]|(?![0-9A-Fa-f]{2}))/

/**
 * Parses the request target in origin form (RFC 9112 section 3.2.1), or undefined where it is in another form or could
 * be read in two ways: dot segments, empty segments, encoded slashes, backslashes, path parameters, a fragment. An
 * upstream that decodes, merges or cuts such a path would serve another operation than the one that was checked.
 */
export const parseTarget = (url: string): RequestTarget | undefined => {
  if (url.charCodeAt(0) !== 0x2f || url.includes('#')) return undefined
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = mark < 0 ? '' : url.slice(mark + 1)
  if (!suspicious.test(path)) return { path, query }
  const plain = normalizePath(path)
  return plain === undefined ? undefined : { path: plain, query }
}

/** Decodes what needs no encoding (RFC 3986 section 6.2.2), so `/%61dmin` and `/admin` are one path. */
const normalizePath = (path: string): string | undefined => {
  if (/[\\;]|\/\/|[^\x21-\x7e]/.test(path) || ambiguous.test(path)) return undefined
  const decoded = path.replace(/%([0-9A-Fa-f]{2})/g, (escaped, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return unreserved.test(character) ? character : escaped.toUpperCase()
  })
  return /(?:^|\/)\.{1,2}(?:\/|$)/.test(decoded) ? undefined : decoded
}
