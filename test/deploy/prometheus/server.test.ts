/** A real Prometheus scrapes a running gateway, and answers what people ask it. */
import t from 'tap'
import { z } from 'zod'
import { metrics } from '../../../src/telemetry/metrics.ts'
import { codeOf, readPages, rowsOf } from '../../docs/markdown.ts'
import { eventually } from '../../support/eventually.ts'
import { fillIn, panels, variables, withoutFallback } from './dashboard.ts'
import { startWatched } from './watched.ts'

const { prometheus, sent } = await startWatched(t)

const exemplars = z.array(
  z.object({
    seriesLabels: z.object({ grouping: z.string() }),
    exemplars: z.array(z.object({ labels: z.object({ trace_id: z.string() }) })),
  }),
)

const rules = z.object({
  groups: z.array(
    z.object({ interval: z.number(), rules: z.array(z.object({ name: z.string(), health: z.string() })) }),
  ),
})

const countBy = <T>(values: readonly T[], keyOf: (value: T) => string): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(Object.groupBy(values, keyOf)).map(([key, group = []]) => [key, group.length]))

t.test('each grouping has as many answers of each code as were sent, though a worker has died since', async t => {
  const counted = await prometheus.query('sum by (grouping, code) (sidegate_http_requests_total)')

  t.same(
    Object.fromEntries(counted.map(({ labels, value }) => [`${labels.grouping} ${labels.code}`, value])),
    countBy(sent, ({ grouping, code }) => `${grouping} ${code}`),
  )
})

t.test('each grouping has a rate', async t => {
  const rates = await prometheus.query('sum by (grouping) (rate(sidegate_http_requests_total[1m])) > 0')

  t.same(rates.map(({ labels }) => labels.grouping).sort(), [...new Set(sent.map(({ grouping }) => grouping))].sort())
})

t.test('as many durations are in the histogram of each grouping as there were answers', async t => {
  const counted = await prometheus.query('sum by (grouping) (sidegate_http_request_duration_seconds_bucket{le="+Inf"})')

  t.same(
    Object.fromEntries(counted.map(({ labels, value }) => [labels.grouping, value])),
    countBy(sent, ({ grouping }) => grouping),
  )
})

t.test('every query of the README is answered', async t => {
  const queries = rowsOf(readPages('docs'), 'Question', 'PromQL').flatMap(([, query]) => codeOf(query))

  t.ok(queries.length > 0)
  for (const query of queries) t.not((await prometheus.query(query)).length, 0, query)
})

t.test('Prometheus asks for OpenMetrics, and finds each metric of the kind that it is', async t => {
  const known = (await prometheus.ask('/api/v1/metadata')) as Readonly<Record<string, readonly { type: string }[]>>

  // OpenMetrics names a counter without the _total of its only sample; the older text format names the sample.
  for (const { name, kind } of Object.values(metrics))
    t.equal(known[name.replace(/_total$/, '')]?.[0]?.type, kind, name)
})

t.test('Prometheus keeps for each grouping the traces that its requests were recorded in', async t => {
  const now = Date.now() / 1000
  const found = await prometheus.ask('/api/v1/query_exemplars', {
    query: 'sidegate_http_request_duration_seconds_bucket',
    start: String(now - 600),
    end: String(now + 600),
  })

  const kept = exemplars.parse(found)
  const groupings = new Set(kept.map(({ seriesLabels }) => seriesLabels.grouping))
  t.same([...groupings].sort(), [...new Set(sent.map(({ grouping }) => grouping))].sort())
  for (const { labels } of kept.flatMap(series => series.exemplars)) t.match(labels.trace_id, /^[0-9a-f]{32}$/)
})

/** Panels for which the test sends nothing, so that they show a 0. */
const quiet = ['Decided without the shared count', 'Answered 503', 'Removed early']

t.test('every rule is evaluated without an error', async t => {
  const findRules = async () => rules.parse(await prometheus.ask('/api/v1/rules')).groups
  // Groups with an interval of their own are not due yet.
  const isDue = ({ interval }: { readonly interval: number }) => interval < 1

  await eventually(async () =>
    (await findRules()).filter(isDue).every(group => group.rules.every(({ health }) => health !== 'unknown')),
  )

  const found = (await findRules()).flatMap(group => group.rules)
  t.ok(found.length > 0)
  t.same(
    found.filter(({ health }) => health === 'err').map(({ name }) => name),
    [],
  )
})

t.test('the error budget of the grouping that fails burns, and of no other', async t => {
  const burning = 'ALERTS{alertname="SidegateErrorBudgetBurnsFast"}'
  await eventually(async () => (await prometheus.query(burning)).length > 0)

  const found = await prometheus.query(burning)
  t.same(
    found.map(({ labels }) => labels.grouping),
    ['Dead'],
  )
})

t.test('every query of the dashboard finds a number', async t => {
  for (const { title, targets } of panels) {
    for (const { expr } of targets) {
      const query = fillIn(expr)
      const found = await prometheus.query(quiet.includes(title) ? query : withoutFallback(query))

      t.ok(
        found.some(({ value }) => !Number.isNaN(value)),
        `${title}: ${expr}`,
      )
    }
  }
})

t.test('every variable of the dashboard has values', async t => {
  for (const { name, query } of variables) {
    const [, series = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(query) ?? []
    const values = await prometheus.ask(`/api/v1/label/${label}/values`, { 'match[]': fillIn(series) })

    t.ok(Array.isArray(values) && values.length > 0, name)
  }
})
