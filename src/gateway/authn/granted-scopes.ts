/**
 * Whether a token's scope (RFC 6749 section 3.3: words with a space between) has every word that is needed. The words are
 * looked for in the text: to split it would make a list for each request.
 */
export const hasScopes = (granted: string, needed: readonly string[]): boolean => {
  for (const scope of needed) if (granted !== scope && !hasScope(granted, scope)) return false
  return true
}

const hasScope = (granted: string, scope: string): boolean => {
  let from = granted.indexOf(scope)
  while (from >= 0 && from < granted.length) {
    const end = from + scope.length
    const isWhole = isBoundary(granted, from - 1) && isBoundary(granted, end)
    if (isWhole) return true
    from = granted.indexOf(scope, from + 1)
  }
  return false
}

/** A space, or a place before or behind the text. */
const isBoundary = (granted: string, at: number): boolean => at < 0 || at >= granted.length || granted[at] === ' '
