import { milliseconds, toMarkdownTable } from '../markdown-table.ts'
import { type Measurement, ratePerSec } from './measurement.ts'

export interface Row {
  readonly title: string
  readonly measurement: Measurement
}

/** Added to the middle of the waits before, by the 99th percentile, in milliseconds. */
const mostAddedMs = 100

/** From Redis to the shared count, in milliseconds. */
const latestBackMs = 1000

/**
 * Whether every promise held: every request answered in time, at most two plans around the outage, and the shared
 * count back within a second.
 */
export const isKept = ({ measurement }: Row): boolean =>
  addedMs(measurement) < mostAddedMs &&
  measurement.backAfterMs < latestBackMs &&
  measurement.most <= 2 * ratePerSec &&
  measurement.failed === 0

const addedMs = ({ p50BeforeMs, p99FirstMs, p99AwayMs }: Measurement): number =>
  Math.max(p99FirstMs, p99AwayMs) - p50BeforeMs

const headings = [
  'Fault of Redis',
  'away for',
  'p50, p99 before',
  'p99 of the first second',
  'p99 of the outage',
  'longest wait',
  'shared again after',
  'most in 1 s',
  'failed',
] as const

/** The measurements as Markdown; a value that breaks its promise has a star. */
export const toMarkdown = (rows: readonly Row[]): string => toMarkdownTable(headings, rows.map(toCells))

const toCells = (row: Row): readonly string[] => {
  const { measurement } = row
  return [
    row.title + (isKept(row) ? '' : ' \\*'),
    `${(measurement.awayMs / 1000).toFixed(1)} s`,
    `${milliseconds(measurement.p50BeforeMs)}, ${milliseconds(measurement.p99BeforeMs)}`,
    milliseconds(measurement.p99FirstMs),
    milliseconds(measurement.p99AwayMs),
    milliseconds(measurement.longestMs),
    milliseconds(measurement.backAfterMs),
    `${measurement.most}`,
    `${measurement.failed}`,
  ]
}
