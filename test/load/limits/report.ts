import type { Topology } from './fleet.ts'
import type { Judgement } from './judgement.ts'
import { plan } from './plan.ts'
import type { Row } from './run.ts'

const headings = [
  'Sidegate / default script',
  'offered per second',
  'most in 1 s',
  'let in',
  'refused wrongly',
  'failed',
  'p50',
  'p99',
] as const

/** The most that Sidegate has promised for this run: the plan, and around an outage as much again. */
const promisedIn = ({ scenario, isLocal }: Row): number => (scenario.isOutage || isLocal ? 2 * plan.limit : plan.limit)

/** Whether more was let in than promised. */
export const isBroken = (row: Row): boolean => row.sidegate.most > promisedIn(row)

/** The rows of one topology as Markdown. */
export const toMarkdown = ({ workers, pods }: Topology, rows: readonly Row[]): string =>
  [
    `${count(pods, 'pod')} of ${count(workers, 'worker')}:`,
    '',
    toLine(headings),
    toLine(headings.map(() => '---')),
    ...rows.map(row => toLine(toCells(row))),
    ...(rows.some(isMarked) ? ['', mark] : []),
  ].join('\n')

const mark =
  '\\* The machine stood still for longer than a worker waits for Redis, which is an outage to it: workers decided by their own share.'

const isMarked = ({ scenario, isLocal }: Row): boolean => isLocal && !scenario.isOutage

const toCells = (row: Row): readonly string[] => {
  const both = (show: (judgement: Judgement) => string): string => `${show(row.sidegate)} / ${show(row.competitor)}`
  return [
    row.scenario.title + (isMarked(row) ? ' \\*' : ''),
    both(({ offeredPerSec }) => whole(offeredPerSec)),
    both(({ most }) => whole(most)),
    both(({ share }) => `${whole(100 * share)} %`),
    both(({ falseRefusals }) => whole(falseRefusals)),
    both(({ failed }) => whole(failed)),
    both(({ p50Ms }) => milliseconds(p50Ms)),
    both(({ p99Ms }) => milliseconds(p99Ms)),
  ]
}

const toLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

const whole = (number: number): string => Math.round(number).toLocaleString('en')

const milliseconds = (durationMs: number): string => `${durationMs.toFixed(durationMs < 9.95 ? 1 : 0)} ms`
