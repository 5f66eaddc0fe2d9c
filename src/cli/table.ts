/** Rows of cells, the first one the headings. */
export type Rows = readonly (readonly string[])[]

/** Columns as wide as their widest cell, two spaces apart. */
export const toTable = (rows: Rows): readonly string[] => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0))) ?? []
  return rows.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
