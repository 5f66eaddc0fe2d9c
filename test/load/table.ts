import { median } from './median.ts'
import { baseline, rival, type Scenario } from './scenario.ts'
import type { Measurement } from './wrk.ts'

export interface Row {
  readonly scenario: Scenario
  /** One for each round; at least one. */
  readonly measurements: readonly Measurement[]
}

const references = [baseline, rival] as const

const headings = [
  '',
  'requests/s',
  'CPU',
  'p50',
  'p99',
  ...references.flatMap(name => [`x ${name}`, 'goal']),
  'failed',
] as const

/** The medians of all rounds, and each row's throughput in relation to those of the rows that have goals over them. */
export const toTable = (rows: readonly Row[]): string => align([headings, ...rows.map(row => toCells(row, rows))])

const toCells = (row: Row, rows: readonly Row[]): readonly string[] => [
  row.scenario.title,
  medianOf(row, 'requestsPerSec').toFixed(0),
  `${medianOf(row, 'cpuUsPerRequest').toFixed(1)} µs`,
  toMilliseconds(medianOf(row, 'p50Us')),
  toMilliseconds(medianOf(row, 'p99Us')),
  ...references.flatMap(name => toRatioCells(row, name, rows)),
  // Not a median: one failed request anywhere, and the row's figures are not what they seem.
  `${row.measurements.reduce((sum, measurement) => sum + measurement.failed, 0)}`,
]

/**
 * The ratio to a reference, and the goal, with a star where it is missed. Both are empty if the run lacks the
 * reference.
 */
const toRatioCells = (row: Row, name: (typeof references)[number], rows: readonly Row[]): readonly string[] => {
  const reference = rows.find(({ scenario }) => scenario.name === name)
  if (reference === undefined) return ['', '']
  const ratio = medianOf(row, 'requestsPerSec') / medianOf(reference, 'requestsPerSec')
  const goal = row.scenario.goals?.[name]
  return [ratio.toFixed(2), goal === undefined ? '' : `>= ${goal}${ratio < goal ? ' *' : ''}`]
}

const toMilliseconds = (durationUs: number): string => `${(durationUs / 1000).toFixed(2)} ms`

const medianOf = ({ measurements }: Row, fact: keyof Measurement): number =>
  median(measurements.map(measurement => measurement[fact]))

/** The first column to the left, figures to the right. */
const align = (lines: readonly (readonly string[])[]): string => {
  const widths = headings.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  return lines.map(line => line.map(pad).join('  ').trimEnd()).join('\n')
}
