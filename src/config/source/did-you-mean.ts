/** The known word that the operator most likely meant by `word`, or undefined if none is near. */
export const findNearest = (word: string, known: readonly string[]): string | undefined => {
  const same = known.find(candidate => plain(candidate) === plain(word))
  if (same) return same
  const whole = findWhole(word, known)
  if (whole) return whole
  const furthest = Math.max(1, Math.floor(word.length / 4))
  return known
    .map(candidate => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ distance }) => distance <= furthest)
    .sort((one, other) => one.distance - other.distance)[0]?.candidate
}

/** `clientId`, `client-id` and `client_id` are one word. */
const plain = (word: string): string => word.toLowerCase().replace(/[-_.\s]/g, '')

/**
 * The only known word that contains the words of this one in their order: `auth_method` of
 * `token_endpoint_auth_method`.
 */
const findWhole = (word: string, known: readonly string[]): string | undefined => {
  const [first, ...others] = known
    .filter(candidate => hasWords(candidate, word))
    .toSorted((a, b) => a.length - b.length)
  // Its own variants, such as `client_secret_file` of `client_secret`, are not ambiguous.
  return first !== undefined && others.every(other => other.startsWith(first)) ? first : undefined
}

const hasWords = (candidate: string, word: string): boolean => {
  const wanted = wordsOf(word)
  let found = 0
  for (const part of wordsOf(candidate)) if (part === wanted[found]) found++
  return found === wanted.length
}

/** The words auth and method for `authMethod`, `auth-method` and `auth_method`. */
const wordsOf = (text: string): readonly string[] =>
  text
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[-_.\s]/)

/** Levenshtein distance: insertions, deletions and replacements of one character. */
const editDistance = (one: string, other: string): number => {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    above = current
  }
  return above[other.length] ?? 0
}
