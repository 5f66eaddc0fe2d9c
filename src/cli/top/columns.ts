import { part, type StyledLine, type Tone } from './styled-line.ts'

/** One column of a table. */
export interface Column<Row> {
  readonly heading: string
  /** Columns with a high rank are left out first on a narrow terminal; rank 0 is always shown. */
  readonly rank: number
  readonly text: (row: Row) => string
  readonly tone?: (row: Row) => Tone
}

/**
 * A line of headings and a line for each row. The first column is the name, left-aligned, and is truncated if
 * necessary. The others are numbers, right-aligned; the least important ones are left out if there is no room.
 */
export const toTable = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): readonly StyledLine[] => {
  const sized = columns.map(column => ({ ...column, width: widthOf(column, rows) }))
  const shown = fit(sized, width)
  const others = shown.slice(1).reduce((sum, column) => sum + gap + column.width, 0)
  const nameWidth = Math.max(1, Math.min(shown[0]?.width ?? 0, width - others))
  const widths = [nameWidth, ...shown.slice(1).map(column => column.width)]
  const lineOf = (texts: readonly string[], tones: readonly Tone[]): StyledLine =>
    texts.map((text, index) => part(padded(text, widths[index] ?? 0, index), tones[index]))
  return [
    lineOf(
      shown.map(({ heading }) => heading),
      shown.map(() => 'strong'),
    ),
    ...rows.map(row =>
      lineOf(
        shown.map(({ text }) => text(row)),
        shown.map(({ tone }) => tone?.(row) ?? 'plain'),
      ),
    ),
  ]
}

const gap = 2

type Sized<Row> = Column<Row> & { readonly width: number }

const widthOf = <Row>({ heading, text }: Column<Row>, rows: readonly Row[]): number =>
  rows.reduce((most, row) => Math.max(most, text(row).length), heading.length)

/** Names can be told apart by this many characters. */
const leastName = 12

const fit = <Row>(columns: readonly Sized<Row>[], width: number): readonly Sized<Row>[] => {
  const needed = columns.reduce(
    (sum, column, index) => sum + (index === 0 ? Math.min(leastName, column.width) : gap + column.width),
    0,
  )
  const last = Math.max(...columns.map(({ rank }) => rank))
  if (needed <= width || last === 0) return columns
  return fit(
    columns.filter(({ rank }) => rank !== last),
    width,
  )
}

const padded = (text: string, width: number, index: number): string => {
  if (index > 0) return ' '.repeat(gap) + text.padStart(width)
  return text.length > width ? `${text.slice(0, width - 1)}~` : text.padEnd(width)
}
