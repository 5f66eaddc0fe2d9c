import { toMarkdownTable } from '../markdown-table.ts'
import { median } from '../median.ts'

/** The memory of the processes as Linux counts it: shared pages count for each process. */
export interface Memory {
  readonly workerMiB: number
  /** Of all processes: the primary and its worker. */
  readonly wholeMiB: number
}

/** The result of one start. */
export interface RestResult {
  /** From the start of the program until it says that it is ready. */
  readonly readyMs: number
  readonly fresh: Memory
  readonly afterLoad: Memory
}

interface Fact {
  readonly title: string
  readonly unit: 'ms' | 'MiB'
  readonly most: number
  readonly of: (result: RestResult) => number
}

const facts: readonly Fact[] = [
  { title: 'start to ready', unit: 'ms', most: 800, of: ({ readyMs }) => readyMs },
  { title: 'the worker at rest', unit: 'MiB', most: 100, of: ({ fresh }) => fresh.workerMiB },
  { title: 'all processes at rest', unit: 'MiB', most: 180, of: ({ fresh }) => fresh.wholeMiB },
  { title: 'the worker after a load', unit: 'MiB', most: 100, of: ({ afterLoad }) => afterLoad.workerMiB },
  { title: 'all processes after a load', unit: 'MiB', most: 180, of: ({ afterLoad }) => afterLoad.wholeMiB },
]

/** Whether the middle of every figure is as we want it. */
export const hasHeld = (results: readonly RestResult[]): boolean => facts.every(fact => isKept(fact, results))

/** The middle of all rounds and each of them, as Markdown; a figure that is above its goal has a star. */
export const toRestTable = (results: readonly RestResult[]): string =>
  toMarkdownTable(
    ['', 'middle', 'goal', 'each round'],
    facts.map(fact => [
      fact.title,
      `${middleOf(fact, results).toFixed(0)} ${fact.unit}${isKept(fact, results) ? '' : ' \\*'}`,
      `<= ${fact.most} ${fact.unit}`,
      results.map(result => fact.of(result).toFixed(0)).join(', '),
    ]),
  )

const isKept = (fact: Fact, results: readonly RestResult[]): boolean => middleOf(fact, results) <= fact.most

const middleOf = (fact: Fact, results: readonly RestResult[]): number => median(results.map(fact.of))
