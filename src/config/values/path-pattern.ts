/** Paths of operations: literal segments, `*` for one segment, a final `**` for the rest (possibly empty). */

/** The fault of a path and its correction, or undefined. */
export const pathFault = (path: string): string | undefined => {
  if (!path.startsWith('/')) return 'a path begins with /'
  if (/[?#]/.test(path)) return 'a path has no query and no fragment; remove it'
  if (path === '/') return undefined
  const segments = segmentsOf(path)
  if (segments.includes('')) return 'a segment is empty; remove the doubled or trailing /'
  if (segments.some(isDots)) return '. and .. are not allowed; write the resolved path'
  if (segments.slice(0, -1).includes('**')) return '** is allowed only at the end; use * for one segment'
  if (segments.some(segment => segment.includes('*') && !/^\*{1,2}$/.test(segment))) {
    return 'a * must be a whole segment, not a part of one'
  }
  if (!segments.every(isLiteralOrWildcard))
    return 'has characters that a path cannot have; percent-encode them (RFC 3986)'
  if (path.includes(';') || ambiguousEscape.test(path))
    return 'requests with ; or an encoded / \\ ; or control character are refused'
  return escapesOf(path).some(isOddEscape)
    ? 'write letters, digits and -._~ unescaped, and escapes in capitals'
    : undefined
}

/** The same for a base path, which has no wildcards. */
export const basePathFault = (path: string): string | undefined => {
  if (path === '/') return 'leave it out if there is no base path'
  return pathFault(path) ?? (path.includes('*') ? 'a base path has no wildcards' : undefined)
}

/** A path below a base path; `/` is the base path itself. */
export const joinPath = (basePath: string, path: string): string =>
  basePath && path === '/' ? basePath : basePath + path

/**
 * Whether some request path matches both patterns and neither is more specific: the longest literal prefix wins, and a
 * path without wildcards wins over every pattern.
 */
export const isAmbiguous = (one: string, other: string): boolean =>
  literalRank(one) === literalRank(other) && intersects(segmentsOf(one), segmentsOf(other))

/** Ambiguous patterns have the same prefix: the part before the first wildcard, and whether there is one. */
export const literalPrefix = (path: string): string => {
  const first = path.indexOf('*')
  return first < 0 ? path : path.slice(0, first + 1)
}

const segmentsOf = (path: string): readonly string[] => path.slice(1).split('/')

/** Number of segments before the first wildcard; Infinity without a wildcard. */
const literalRank = (path: string): number => {
  const first = segmentsOf(path).findIndex(segment => segment.includes('*'))
  return first < 0 ? Number.POSITIVE_INFINITY : first
}

const intersects = (one: readonly string[], other: readonly string[]): boolean => {
  const [head, ...tail] = one
  const [otherHead, ...otherTail] = other
  if (head === '**' || otherHead === '**') return true
  if (head === undefined || otherHead === undefined) return onlyRest(one) && onlyRest(other)
  return (head === otherHead || head === '*' || otherHead === '*') && intersects(tail, otherTail)
}

/** An empty list, or a `**` that matches an empty rest. */
const onlyRest = (segments: readonly string[]): boolean => segments.length === 0 || segments[0] === '**'

/**
 * Escapes that the gateway refuses in a request's path (`http/headers/request-target.ts`), so the operation could never
 * be reached.
 */
const ambiguousEscape = /%(?:2F|5C|3B|[01][\dA-F]|7F)/i

const escapesOf = (path: string): readonly string[] => path.match(/%[\dA-Fa-f]{2}/g) ?? []

/**
 * A request's path is compared in its normal form (RFC 3986 section 6.2.2). In another form an operation would never be
 * reached, and a wildcard with weaker requirements would get its requests.
 */
const isOddEscape = (escaped: string): boolean => {
  const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
  return escaped !== escaped.toUpperCase() || /[\w.~-]/.test(character)
}

/** `.` and `..`, also percent-encoded, because a router may decode them. */
const isDots = (segment: string): boolean => /^(?:\.|%2e){1,2}$/i.test(segment)

const isLiteralOrWildcard = (segment: string): boolean => /^(?:[\w.~!$&'()*+,;=:@-]|%[\dA-Fa-f]{2})+$/.test(segment)
