/**
 * Whether a token's scope (RFC 6749 section 3.3: words separated by a space) has all required words. The words are
 * searched in the text, because splitting it would create an array for each request.
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

/** Whether the character is a space, or the position is outside the text. */
const isBoundary = (granted: string, at: number): boolean => at < 0 || at >= granted.length || granted[at] === ' '
