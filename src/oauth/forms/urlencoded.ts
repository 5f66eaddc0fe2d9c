/** `application/x-www-form-urlencoded` texts (RFC 6749 appendix B), read strictly: what is malformed is not guessed at. */

/** One name or value; undefined where a percent sequence is bad or the bytes are not UTF-8. */
export const decodeComponent = (text: string): string | undefined => {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return undefined
  }
}

/** All name and value pairs in order, repeated and empty ones too; undefined where any of them is malformed. */
export const parsePairs = (text: string): readonly (readonly [string, string])[] | undefined => {
  const pairs: (readonly [string, string])[] = []
  for (const part of text.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decodeComponent(equals < 0 ? part : part.slice(0, equals))
    const value = decodeComponent(equals < 0 ? '' : part.slice(equals + 1))
    if (name === undefined || value === undefined) return undefined
    pairs.push([name, value])
  }
  return pairs
}
