import { baseline, type Scenario } from './scenario.ts'
import type { Measurement } from './wrk.ts'

export interface Row {
  readonly scenario: Scenario
  /** One for each round; at least one. */
  readonly measurements: readonly Measurement[]
}

const headings = ['', 'requests/s', 'CPU', 'p50', 'p99', `x ${baseline}`, 'goal', 'failed'] as const

/** The medians of all rounds, and each row's throughput in relation to the baseline's. */
export const toTable = (rows: readonly Row[]): string => {
  const baselineRow = rows.find(row => row.scenario.name === baseline)
  const baselinePerSec = baselineRow ? median(baselineRow, 'requestsPerSec') : Number.NaN
  return align([headings, ...rows.map(row => toCells(row, baselinePerSec))])
}

const toCells = (row: Row, baselinePerSec: number): readonly string[] => {
  const perSec = median(row, 'requestsPerSec')
  return [
    row.scenario.title,
    perSec.toFixed(0),
    `${median(row, 'cpuUsPerRequest').toFixed(1)} µs`,
    toMilliseconds(median(row, 'p50Us')),
    toMilliseconds(median(row, 'p99Us')),
    (perSec / baselinePerSec).toFixed(2),
    row.scenario.goal === undefined ? '' : `>= ${row.scenario.goal}`,
    // Not a median: one failed request anywhere, and the row's figures are not what they seem.
    `${row.measurements.reduce((sum, measurement) => sum + measurement.failed, 0)}`,
  ]
}

const toMilliseconds = (durationUs: number): string => `${(durationUs / 1000).toFixed(2)} ms`

const median = ({ measurements }: Row, fact: keyof Measurement): number => {
  const sorted = measurements.map(measurement => measurement[fact]).sort((a, b) => a - b)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}

/** The first column to the left, figures to the right. */
const align = (lines: readonly (readonly string[])[]): string => {
  const widths = headings.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  return lines.map(line => line.map(pad).join('  ').trimEnd()).join('\n')
}
