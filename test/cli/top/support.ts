import { type Shown, type Size, toPage } from '../../../src/cli/top/layout.ts'
import { parseExposition } from '../../../src/cli/top/prometheus-text.ts'
import type { Scrape } from '../../../src/cli/top/scrape.ts'
import { type Snapshot, toSnapshot } from '../../../src/cli/top/snapshot.ts'
import { toText } from '../../../src/cli/top/styled-line.ts'

/** A scrape with this text, `atSec` seconds after the first one. */
export const scrapeOf = (text: string, atSec = 0): Scrape => ({ atMs: atSec * 1000, samples: parseExposition(text) })

/** The snapshot of two scrapes that are one second apart. */
export const viewOf = (before: string, now: string): Snapshot => toSnapshot(scrapeOf(before), scrapeOf(now, 1))

/** The page as a terminal without colours shows it. */
export const pageOf = (
  view: Snapshot | undefined,
  size: Size = { columns: Infinity, rows: Infinity },
  shown: Partial<Shown> = {},
): readonly string[] =>
  toPage({ title: 'title', view, trouble: undefined, skipped: 0, ...shown }, size).map(line =>
    toText(line, size.columns, false),
  )

/** The request counter of a grouping for one status. */
export const requests = (grouping: string, count: number, code = 200): string =>
  `sidegate_http_requests_total{grouping="${grouping}",version="1",operation="GET /",method="GET",code="${code}"} ${count}\n`

/** The duration histogram of a grouping: for each bound in seconds, the number of requests within that bound. */
export const durations = (grouping: string, counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(
      ([bound, count]) =>
        `sidegate_http_request_duration_seconds_bucket{le="${bound}",grouping="${grouping}",operation="GET /",code_class="2xx"} ${count}\n`,
    )
    .join('')
