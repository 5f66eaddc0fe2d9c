const unitBytes = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const

/** `512B 16KiB 10MiB 4GiB 1TiB` to bytes; undefined where the text is no size. */
export const parseSizeBytes = (text: string): number | undefined => {
  const match = /^(\d{1,6})(B|KiB|MiB|GiB|TiB)$/.exec(text)
  return match ? Number(match[1]) * unitBytes[match[2] as keyof typeof unitBytes] : undefined
}
