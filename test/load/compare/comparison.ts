import { toMarkdownTable } from '../markdown-table.ts'
import { median } from '../median.ts'
import type { Measurement } from '../wrk.ts'

/** The two versions in one row of the bench, measured one right after the other. */
export interface Pair {
  readonly other: Measurement
  readonly own: Measurement
}

export interface Comparison {
  readonly title: string
  readonly pairs: readonly Pair[]
}

/** The most CPU per request that the checkout may take, as a multiple of the other version's. */
const mostCpu = 1.03

/**
 * The ratio of the checkout to the other version in each pair. A slow second of the machine affects both halves of a
 * pair.
 */
const ratiosOf = (pairs: readonly Pair[], read: (measurement: Measurement) => number): readonly number[] =>
  pairs.map(({ other, own }) => read(own) / read(other))

const cpuRatio = (pairs: readonly Pair[]): number => median(ratiosOf(pairs, ({ cpuUsPerRequest }) => cpuUsPerRequest))

/** Whether the checkout takes at most 3 % more CPU per request in every row, by the median of the pairs. */
export const isWithin = (comparisons: readonly Comparison[]): boolean =>
  comparisons.every(({ pairs }) => cpuRatio(pairs) <= mostCpu)

const quartile = (values: readonly number[], part: number): number =>
  values.toSorted((one, another) => one - another)[Math.round((values.length - 1) * part)] ?? Number.NaN

const microseconds = (us: number): string => `${us.toFixed(1)} µs`

export const toCompareTable = (comparisons: readonly Comparison[]): string =>
  toMarkdownTable(
    ['row', 'CPU, other', 'CPU, checkout', 'ratio', 'middle half', 'requests/s, ratio', 'failed'],
    comparisons.map(({ title, pairs }) => {
      const ratios = ratiosOf(pairs, ({ cpuUsPerRequest }) => cpuUsPerRequest)
      const rates = ratiosOf(pairs, ({ requestsPerSec }) => requestsPerSec)
      return [
        title,
        microseconds(median(pairs.map(({ other }) => other.cpuUsPerRequest))),
        microseconds(median(pairs.map(({ own }) => own.cpuUsPerRequest))),
        `${cpuRatio(pairs).toFixed(3)}${cpuRatio(pairs) > mostCpu ? ' \\*' : ''}`,
        `${quartile(ratios, 0.25).toFixed(2)} to ${quartile(ratios, 0.75).toFixed(2)}`,
        median(rates).toFixed(3),
        `${pairs.reduce((sum, { other, own }) => sum + other.failed + own.failed, 0)}`,
      ]
    }),
  )
