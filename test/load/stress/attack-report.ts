import { milliseconds, toMarkdownTable } from '../markdown-table.ts'

/** The answers to the well-behaved clients. */
export interface Served {
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers other than 200, and requests without one. */
  readonly failed: number
}

export interface AttackResult {
  readonly undisturbed: Served
  readonly attacked: Served
  /** Of a scrape of the metrics. */
  readonly adminMs: number
  /** The worker's memory before any attack, during it, and a little later. */
  readonly warmMiB: number
  readonly duringMiB: number
  readonly afterMiB: number
}

export interface AttackRow {
  readonly title: string
  readonly rounds: AttackResult[]
}

/** Of the 99th percentile, in relation to the undisturbed one just before. */
const mostSlowdown = 2
/** Of what is held after a round, in relation to what was held before any attack. */
const mostGrowth = 1.25

/** Whether the others were served, soon enough, and memory came back. */
export const hasHeld = (row: AttackRow): boolean =>
  failedIn(row) === 0 && slowdownOf(row) < mostSlowdown && growthOf(row) <= mostGrowth

const failedIn = ({ rounds }: AttackRow): number => rounds.reduce((sum, { attacked }) => sum + attacked.failed, 0)

const slowdownOf = ({ rounds }: AttackRow): number =>
  median(rounds.map(({ undisturbed, attacked }) => attacked.p99Ms / undisturbed.p99Ms))

const growthOf = ({ rounds }: AttackRow): number => median(rounds.map(({ warmMiB, afterMiB }) => afterMiB / warmMiB))

const headings = [
  'Attack',
  'p50, p99 before',
  'p50, p99 meanwhile',
  '× p99',
  'failed',
  'a scrape takes',
  'MiB before, meanwhile',
  'MiB after each round',
] as const

/** The medians of all rounds, as Markdown; a row that did not hold has a star. */
export const toAttackTable = (rows: readonly AttackRow[]): string => toMarkdownTable(headings, rows.map(toCells))

const toCells = (row: AttackRow): readonly string[] => {
  const { rounds } = row
  const middle = (fact: (result: AttackResult) => number): number => median(rounds.map(fact))
  return [
    row.title + (hasHeld(row) ? '' : ' \\*'),
    `${milliseconds(middle(({ undisturbed }) => undisturbed.p50Ms))}, ${milliseconds(middle(({ undisturbed }) => undisturbed.p99Ms))}`,
    `${milliseconds(middle(({ attacked }) => attacked.p50Ms))}, ${milliseconds(middle(({ attacked }) => attacked.p99Ms))}`,
    slowdownOf(row).toFixed(1),
    `${failedIn(row)}`,
    milliseconds(middle(({ adminMs }) => adminMs)),
    `${middle(({ warmMiB }) => warmMiB).toFixed(0)}, ${middle(({ duringMiB }) => duringMiB).toFixed(0)}`,
    rounds.map(({ afterMiB }) => afterMiB.toFixed(0)).join(', '),
  ]
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
