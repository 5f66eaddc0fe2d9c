/** An ISO 8601 instant with its zone (RFC 3339 section 5.6) to milliseconds since 1970; undefined where it is none. */
export const parseInstantMs = (text: string): number | undefined => {
  const match = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.exec(text)
  const atMs = Date.parse(text)
  if (!match?.[1] || Number.isNaN(atMs)) return undefined
  return isDay(match[1]) ? atMs : undefined
}

/** The parser takes February 30 for March 2. */
const isDay = (day: string): boolean => new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
