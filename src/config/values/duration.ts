const unitMs: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** `250ms 5s 10m 2h 30d` to milliseconds; undefined where the text is no duration. */
export const parseDurationMs = (text: string): number | undefined => {
  const [, count, unit = ''] = /^(\d{1,9})([a-z]+)$/.exec(text) ?? []
  const ms = unitMs.get(unit)
  return ms && Number(count) * ms
}
