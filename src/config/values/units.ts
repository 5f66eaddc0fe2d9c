const unitMs: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** `250ms 5s 10m 2h 30d` to milliseconds; undefined if the text is not a duration. */
export const parseDurationMs = (text: string): number | undefined => {
  const [, count, unit = ''] = /^(\d{1,9})([a-z]+)$/.exec(text) ?? []
  const ms = unitMs.get(unit)
  return ms && Number(count) * ms
}

const unitBytes: ReadonlyMap<string, number> = new Map([
  ['B', 1],
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
  ['TiB', 1024 ** 4],
])

/** `512B 16KiB 10MiB 4GiB 1TiB` to bytes; undefined if the text is not a size. */
export const parseSizeBytes = (text: string): number | undefined => {
  const [, count, unit = ''] = /^(\d{1,6})([A-Za-z]+)$/.exec(text) ?? []
  const bytes = unitBytes.get(unit)
  return bytes && Number(count) * bytes
}

/**
 * An ISO 8601 timestamp with its zone (RFC 3339 section 5.6) to milliseconds since 1970; undefined if the text is not
 * one.
 */
export const parseInstantMs = (text: string): number | undefined => {
  const match = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.exec(text)
  const atMs = Date.parse(text)
  if (!match?.[1] || Number.isNaN(atMs)) return undefined
  return isDay(match[1]) ? atMs : undefined
}

/** `Date.parse` reads February 30 as March 2. */
const isDay = (day: string): boolean => new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
