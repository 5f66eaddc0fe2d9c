import { type Column, toTable } from './columns.ts'
import { duration, figure, percent } from './format-number.ts'
import type { GroupingRow, Snapshot, StoreRow, UpstreamRow } from './snapshot.ts'
import { part, type StyledLine } from './styled-line.ts'

/** The content of the screen. */
export interface Shown {
  /** The origin of the data, and the interval. */
  readonly title: string
  /** Undefined before there are two scrapes to compare. */
  readonly view: Snapshot | undefined
  /** Why there is no new data. */
  readonly trouble: string | undefined
  /** The number of groupings above those shown. */
  readonly skipped: number
}

/** The size of a screen, in characters. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

/** The lines of a screen; all rows if `rows` is infinite. */
export const toPage = (shown: Shown, size: Size): readonly StyledLine[] => {
  const { above, below, room } = frameOf(shown, size)
  const groupings = shown.view ? groupingLines(shown.view, shown.skipped, room, size.columns) : []
  return [...above, ...groupings, ...below].slice(0, size.rows)
}

/** The maximum number of groupings above the screen, so that the screen is full. */
export const mostSkipped = (shown: Shown, size: Size): number => {
  const count = shown.view?.groupings.length ?? 0
  const { room } = frameOf(shown, size)
  return count <= room ? 0 : count - shownOf(room)
}

interface Frame {
  readonly above: readonly StyledLine[]
  readonly below: readonly StyledLine[]
  /** The number of lines left for groupings, below their headings and their sum. */
  readonly room: number
}

const frameOf = ({ title, view, trouble }: Shown, size: Size): Frame => {
  const head: readonly StyledLine[] = [[part(title, 'strong')], ...troubleLines(trouble)]
  if (!view) return { above: head, below: trouble === undefined ? [[part('measuring ...', 'faint')]] : [], room: 0 }
  const stores = view.stores.map(store => storeLine(store, view.alonePerSec))
  const above = [...head, ...programLines(view), ...stores, []]
  const below = upstreamLines(view.upstreams, size)
  return { above, below, room: size.rows - above.length - below.length - 2 }
}

const troubleLines = (trouble: string | undefined): readonly StyledLine[] =>
  trouble === undefined ? [] : [[part(`${trouble}; trying again`, 'bad')]]

const programLines = (view: Snapshot): readonly StyledLine[] => [
  [
    part(`sidegate ${view.version}  workers `),
    part(figure(view.workers), view.workers === 0 ? 'bad' : 'plain'),
    part(`  restarts ${figure(view.restarts)}`, view.restarts > 0 ? 'warn' : 'plain'),
    part(`  tokens ${figure(view.tokensPerSec)}/s  introspections ${figure(view.introspectionsPerSec)}/s`),
  ],
  ...(view.isReloadGood ? [] : [[part('the last configuration was refused; the previous one is served', 'bad')]]),
]

const storeLine = ({ name, isUp, callsPerSec, p50, p99 }: StoreRow, alonePerSec: number): StyledLine => [
  part(`store ${name} `),
  part(isUp ? 'up' : 'DOWN', isUp ? 'plain' : 'bad'),
  part(`  calls ${figure(callsPerSec)}/s  p50 ${duration(p50)}  p99 ${duration(p99)}`),
  part(`  decided without store ${figure(alonePerSec)}/s`, alonePerSec > 0 ? 'warn' : 'plain'),
]

/** The sum comes first, then as many of the groupings as fit. */
const groupingLines = (view: Snapshot, skipped: number, room: number, columns: number): readonly StyledLine[] => {
  const { total, groupings } = view
  if (groupings.length <= room) return toTable(groupingColumns, [...total, ...groupings], columns)
  const some = groupings.slice(skipped, skipped + shownOf(room))
  const which = `${skipped + 1} to ${skipped + some.length} of ${groupings.length}; arrow and page keys show others`
  return [...toTable(groupingColumns, [...total, ...some], columns), [part(which, 'faint')]]
}

/** If not all fit, one line tells which are shown. */
const shownOf = (room: number): number => Math.max(1, room - 1)

const groupingColumns: readonly Column<GroupingRow>[] = [
  { heading: 'GROUPING', rank: 0, text: ({ name }) => name },
  { heading: 'REQ/S', rank: 0, text: ({ requestsPerSec }) => figure(requestsPerSec) },
  { heading: '4XX%', rank: 6, text: ({ clientErrorShare }) => percent(clientErrorShare) },
  {
    heading: '5XX%',
    rank: 1,
    text: ({ serverErrorShare }) => percent(serverErrorShare),
    tone: ({ serverErrorShare }) => (serverErrorShare > 0 ? 'bad' : 'plain'),
  },
  { heading: 'P50', rank: 4, text: ({ p50 }) => duration(p50) },
  { heading: 'P99', rank: 2, text: ({ p99 }) => duration(p99) },
  {
    heading: 'REFUSED/S',
    rank: 3,
    text: ({ refusalsPerSec }) => figure(refusalsPerSec),
    tone: ({ refusalsPerSec }) => (refusalsPerSec > 0 ? 'warn' : 'plain'),
  },
  { heading: 'IN FLIGHT', rank: 5, text: ({ inFlight }) => figure(inFlight) },
]

/** At most a third of the screen, with an empty line above. */
const upstreamLines = (upstreams: readonly UpstreamRow[], { columns, rows }: Size): readonly StyledLine[] => {
  const room = Math.min(upstreams.length, Math.floor(rows / 3) - 2)
  return room < 1 ? [] : [[], ...toTable(upstreamColumns, upstreams.slice(0, room), columns)]
}

const upstreamColumns: readonly Column<UpstreamRow>[] = [
  { heading: 'UPSTREAM', rank: 0, text: ({ name }) => name },
  { heading: 'REQ/S', rank: 0, text: ({ requestsPerSec }) => figure(requestsPerSec) },
  {
    heading: 'FAILED/S',
    rank: 1,
    text: ({ errorsPerSec }) => figure(errorsPerSec),
    tone: ({ errorsPerSec }) => (errorsPerSec > 0 ? 'bad' : 'plain'),
  },
  { heading: 'P50', rank: 4, text: ({ p50 }) => duration(p50) },
  { heading: 'P99', rank: 2, text: ({ p99 }) => duration(p99) },
  { heading: 'MEMBERS', rank: 5, text: ({ available }) => figure(available) },
  { heading: 'AWAY', rank: 3, text: ({ away }) => figure(away), tone: ({ away }) => (away > 0 ? 'warn' : 'plain') },
  { heading: 'QUEUE', rank: 6, text: ({ queue }) => figure(queue) },
]
