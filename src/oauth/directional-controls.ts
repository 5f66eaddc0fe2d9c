/**
 * Whether each bidirectional control character in a text that opens an embedding, an override or an isolate is closed
 * again, and none closes what is not open (Unicode Standard Annex 9). A name with an unclosed one would reorder the
 * text of the page behind it.
 */
export const hasBalancedDirections = (text: string): boolean => {
  const open: string[] = []
  for (const character of text) {
    const closing = closingOf.get(character)
    if (closing !== undefined) open.push(closing)
    else if (closings.has(character) && open.pop() !== character) return false
  }
  return open.length === 0
}

/** POP DIRECTIONAL FORMATTING and POP DIRECTIONAL ISOLATE. */
const [pdf, pdi] = ['\u202c', '\u2069']

const closingOf: ReadonlyMap<string, string> = new Map([
  ['\u202a', pdf],
  ['\u202b', pdf],
  ['\u202d', pdf],
  ['\u202e', pdf],
  ['\u2066', pdi],
  ['\u2067', pdi],
  ['\u2068', pdi],
])

const closings: ReadonlySet<string> = new Set([pdf, pdi])
