import { milliseconds, toMarkdownTable } from '../markdown-table.ts'
import type { Topology } from './fleet.ts'
import type { Judgement } from './judgement.ts'
import type { JudgedPhase } from './phases.ts'
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

/** Whether Sidegate let in more than it promises: the plan, and around an outage as much again. */
const isOver = ({ scenario, isLocal, limit, limitBefore = limit, sidegate }: Row): boolean => {
  const times = scenario.isOutage || isLocal ? 2 : 1
  return sidegate.judgement.most > times * limit || (sidegate.mostAround ?? 0) > times * Math.max(limit, limitBefore)
}

/** The least share of a plan that is let in, of what there is room for. */
const leastShare = 0.97

/** Whether a plan that was changed let in less than there is room for. Else a run has its share in the table alone. */
const isStarved = ({ isLocal, limitBefore, sidegate }: Row): boolean =>
  limitBefore !== undefined && !isLocal && sidegate.judgement.share < leastShare

/** Whether it is other than promised. */
export const isBroken = (row: Row): boolean => isOver(row) || isStarved(row)

/** The rows of one topology as Markdown. */
export const toMarkdown = ({ workers, pods }: Topology, rows: readonly Row[]): string =>
  [
    `${count(pods, 'pod')} of ${count(workers, 'worker')}:`,
    '',
    toMarkdownTable(headings, rows.map(toCells)),
    ...(rows.some(isMarked) ? ['', mark] : []),
  ].join('\n')

const mark =
  '\\* The machine stood still for longer than a worker waits for Redis, which is an outage to it: workers decided by their own share.'

const isMarked = ({ scenario, isLocal }: Row): boolean => isLocal && !scenario.isOutage

const toCells = (row: Row): readonly string[] => {
  const both = (show: (judgement: Judgement) => string): string =>
    `${show(row.sidegate.judgement)} / ${show(row.competitor.judgement)}`
  return [
    titleOf(row) + (isMarked(row) ? ' \\*' : ''),
    both(({ offeredPerSec }) => whole(offeredPerSec)),
    [row.sidegate, row.competitor].map(toMost).join(' / '),
    both(({ share }) => `${whole(100 * share)} %`),
    both(({ falseRefusals }) => whole(falseRefusals)),
    both(({ failed }) => whole(failed)),
    both(({ p50Ms }) => milliseconds(p50Ms)),
    both(({ p99Ms }) => milliseconds(p99Ms)),
  ]
}

const titleOf = ({ scenario, limit, limitBefore }: Row): string =>
  limitBefore === undefined ? scenario.title : `the same after a reload: ${limitBefore} becomes ${limit}`

/** Around a change: in brackets. */
const toMost = ({ judgement, mostAround }: JudgedPhase): string =>
  whole(judgement.most) + (mostAround === undefined ? '' : ` (${whole(mostAround)})`)

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

const whole = (number: number): string => Math.round(number).toLocaleString('en')
