const unitBytes: ReadonlyMap<string, number> = new Map([
  ['B', 1],
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
  ['TiB', 1024 ** 4],
])

/** `512B 16KiB 10MiB 4GiB 1TiB` to bytes; undefined where the text is no size. */
export const parseSizeBytes = (text: string): number | undefined => {
  const [, count, unit = ''] = /^(\d{1,6})([A-Za-z]+)$/.exec(text) ?? []
  const bytes = unitBytes.get(unit)
  return bytes && Number(count) * bytes
}
