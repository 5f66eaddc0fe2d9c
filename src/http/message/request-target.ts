/** The request target. Routing, authorization and the upstream use the same normalised path. */
export interface RequestTarget {
  /** Starts with `/`; unreserved characters decoded, no dot segments. */
  readonly path: string
  /** As received, without `?`; empty if there is no query. */
  readonly query: string
}

const suspicious = /[%\\;]|\/[./]|[^\x21-\x7e]/
const unreserved = /[A-Za-z0-9._~-]/
/** `%2f %5c %3b`, control characters and malformed escapes: servers disagree about their meaning. */
const ambiguous = /%(?:2[fF]|5[cC]|3[bB]|[01][0-9A-Fa-f]|7[fF]|(?![0-9A-Fa-f]{2}))/

/**
 * Parses the request target in origin form (RFC 9112 section 3.2.1). Undefined if it has another form or is ambiguous:
 * dot segments, empty segments, encoded slashes, backslashes, path parameters, a fragment. An upstream that decodes,
 * merges or cuts such a path would serve another operation than the one that was checked.
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

/**
 * Decodes characters that need no encoding (RFC 3986 section 6.2.2), so that `/%61dmin` and `/admin` are the same path.
 */
const normalizePath = (path: string): string | undefined => {
  if (/[\\;]|\/\/|[^\x21-\x7e]/.test(path) || ambiguous.test(path)) return undefined
  const decoded = path.replace(/%([0-9A-Fa-f]{2})/g, (escaped, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return unreserved.test(character) ? character : escaped.toUpperCase()
  })
  return /(?:^|\/)\.{1,2}(?:\/|$)/.test(decoded) ? undefined : decoded
}
