/** The known word that somebody who wrote `word` most likely meant, or undefined where none is near. */
export const findNearest = (word: string, known: readonly string[]): string | undefined => {
  const same = known.find(candidate => plain(candidate) === plain(word))
  if (same) return same
  const furthest = Math.max(1, Math.floor(word.length / 4))
  return known
    .map(candidate => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ distance }) => distance <= furthest)
    .sort((one, other) => one.distance - other.distance)[0]?.candidate
}

/** `clientId`, `client-id` and `client_id` are one word. */
const plain = (word: string): string => word.toLowerCase().replace(/[-_.\s]/g, '')

/** Levenshtein's: insertions, deletions and replacements of one character. */
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
