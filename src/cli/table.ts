/** Rows of cells; the first row has the headings. */
export type Rows = readonly (readonly string[])[]

/** The minimum width to which a column is truncated. */
const leastWidth = 12

const gap = '  '

/**
 * Columns as wide as their widest cell, two spaces apart.
 * @param room the width of a line, in characters; the widest columns are truncated to fit. If left out, nothing is
 * truncated
 */
export const toTable = (rows: Rows, room = Number.POSITIVE_INFINITY): readonly string[] => {
  const count = rows[0]?.length ?? 0
  const natural = Array.from({ length: count }, (_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)))
  const widths = fit(natural, room - gap.length * (count - 1))
  return rows.map(row =>
    row
      .map((cell, column) => cut(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0))
      .join(gap)
      .trimEnd(),
  )
}

/** Reduces the widest columns first, to the width of the next. */
const fit = (widths: readonly number[], room: number): readonly number[] => {
  const most = (limit: number): readonly number[] => widths.map(width => Math.min(width, limit))
  const sum = (limit: number): number => most(limit).reduce((total, width) => total + width, 0)
  let limit = Math.max(leastWidth, ...widths)
  while (limit > leastWidth && sum(limit) > room) limit--
  return most(limit)
}

const cut = (cell: string, width: number): string => (cell.length <= width ? cell : `${cell.slice(0, width - 1)}…`)
