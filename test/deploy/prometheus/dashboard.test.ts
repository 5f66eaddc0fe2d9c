/**
 * Checks the dashboard as Grafana reads it. server.test.ts asks a real Prometheus whether its queries find something.
 */
import t from 'tap'
import { type MetricDeclaration, metrics } from '../../../src/telemetry/metrics.ts'
import { dashboard, fillIn, panels, variables } from './dashboard.ts'

/** The labels of each series in Prometheus: those of Sidegate, and those of Prometheus itself. */
const labelsOf = new Map(
  Object.values<MetricDeclaration>(metrics).flatMap(({ name, kind, labels }) => {
    const series = kind === 'histogram' ? [`${name}_bucket`, `${name}_count`] : [name]
    return series.map(found => [found, ['job', 'instance', 'le', ...labels]] as const)
  }),
)

const places = dashboard.panels.map(({ gridPos }) => gridPos)
const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

t.test('it keeps its address, and its panels have one each', async t => {
  t.equal(dashboard.uid, 'sidegate')
  t.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length)
})

t.test('Grafana 10.4 and newer read it', async t => {
  t.ok(dashboard.schemaVersion >= 39)
})

t.test('every panel says what it shows, and in which unit', async t => {
  for (const { title, description, fieldConfig } of panels) {
    t.match(description, /^[A-Za-z0-9].+\.$/, title)
    t.not(fieldConfig.defaults.unit, '', title)
  }
})

t.test('no panel lies over another, or beyond the edge', async t => {
  const cells = places.flatMap(({ x, y, w, h }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  )

  t.ok(places.every(({ x, w }) => x + w <= 24))
  t.equal(new Set(cells).size, cells.length)
})

t.test('every panel asks the Prometheus that is chosen', async t => {
  for (const { title, datasource } of panels) t.equal(datasource.uid, `\${datasource}`, title)
})

t.test('every query asks for series and labels that there are', async t => {
  for (const query of queries) {
    const selected = [...query.matchAll(/(sidegate_\w+){([^}]*)}/g)]
    const known = selected.flatMap(([, name = '']) => labelsOf.get(name) ?? [])
    const labels = query.matchAll(/(\w+)(?==~?")|by \(([^)]*)\)/g)
    const asked = [...labels].flatMap(([, matched, kept = '']) => matched ?? kept.split(', '))

    t.ok(selected.length > 0 && selected.every(([, name = '']) => labelsOf.has(name)), query)
    t.same(
      asked.filter(label => !known.includes(label)),
      [],
      query,
    )
  }
})

t.test('every query is about the jobs and instances that are chosen, and the groupings where it can be', async t => {
  for (const query of queries) {
    for (const [, name = '', selector = ''] of query.matchAll(/(sidegate_\w+){([^}]*)}/g)) {
      const choices = ['job', 'instance', 'grouping'].filter(label => labelsOf.get(name)?.includes(label))

      t.same(
        choices.filter(label => !selector.includes(`${label}=~"$${label}"`)),
        [],
        query,
      )
    }
  }
})

t.test('a legend names labels that its query keeps', async t => {
  for (const { title, targets } of panels) {
    for (const { expr, legendFormat } of targets) {
      const kept = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', '))
      const named = [...legendFormat.matchAll(/{{(\w+)}}/g)].map(([, label = '']) => label)

      t.same(
        named.filter(label => !kept.includes(label)),
        [],
        title,
      )
    }
  }
})

t.test('no query has a variable that is not filled in', async t => {
  const known = dashboard.templating.list.map(({ name }) => name)
  for (const query of [...queries, ...variables.map(variable => variable.query)]) {
    const asked = [...query.matchAll(/\$(\w+)/g)].map(([, name]) => name).filter(name => name !== '__rate_interval')
    t.same(
      asked.filter(name => !known.includes(name ?? '')),
      [],
      query,
    )
    t.notMatch(fillIn(query), '$')
  }
})

t.test('every metric is looked at', async t => {
  const all = queries.join('\n')
  for (const { name } of Object.values(metrics)) t.ok(all.includes(name), name)
})
