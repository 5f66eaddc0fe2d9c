import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { metrics } from '../../src/telemetry/metrics.ts'
import { ceilingOf, type SeriesMakers, seriesMakersOf } from '../telemetry/support/series.ts'
import { codeOf, readPage, readPages, root, rowsOf } from './markdown.ts'

const docs = readPages('docs')
const page = readPage('docs/reference/metrics.md')
const declared = Object.values(metrics)

t.test('the documentation says the values of every label, and of no other', async t => {
  const documented = rowsOf(docs, 'Label', 'Values').map(([label]) => codeOf(label)[0])

  t.same(documented.toSorted(), [...new Set(declared.flatMap(({ labels }) => labels))].sort())
})

t.test('the queries of the documentation ask for metrics and labels that there are', async t => {
  const queries = rowsOf(docs, 'Question', 'PromQL').flatMap(([, query]) => codeOf(query))
  const names = new Set(declared.flatMap(({ name, kind }) => (kind === 'histogram' ? [`${name}_bucket`] : [name])))
  const labels = new Set(['le', ...declared.flatMap(metric => metric.labels)])

  t.ok(queries.length > 0, 'there are queries')
  for (const query of queries) {
    for (const [name] of query.matchAll(/sidegate_\w+/g)) t.ok(names.has(name), `${name} exists`)
    const used = [...query.matchAll(/by \(([^)]*)\)|\{(\w+)/g)].flatMap(([, by, matched]) =>
      (by ?? matched ?? '').split(', '),
    )
    for (const label of used) t.ok(labels.has(label), `${label} exists`)
  }
})

t.test('the page says how many series there can be at most', async t => {
  const operation = (method: string, isServed = false, grouping = 'one') => ({
    grouping,
    version: '1.0.0',
    method,
    label: `${method} ${isServed} ${grouping}`,
    isServed,
  })
  const empty: SeriesMakers = { operations: [], plans: [], upstreams: [], store: 'redis' }
  const more = (makers: Partial<SeriesMakers>, than: Partial<SeriesMakers> = {}): number =>
    ceilingOf({ ...empty, ...makers }) - ceilingOf({ ...empty, ...than })
  const one = { operations: [operation('POST')] }
  const perOperation = more({ operations: [operation('POST'), operation('PUT')] }, one)

  const text = [
    ceilingOf(empty),
    `${perOperation} × operations`,
    `${more({ operations: [operation('GET')] }, one)} × operations of GET`,
    `${more({ operations: [operation('POST', true)] }, one)} × operations that Sidegate serves`,
    `${more(one) - perOperation} × groupings`,
    `${more({ plans: ['one'] })} × plans × (groupings + 1)`,
    `${more({ upstreams: ['one'] })} × upstreams`,
  ].join(' + ')

  t.ok(page.text.replaceAll(/\s+/g, ' ').includes(text), text)
})

t.test('the page says how many series the file of npm start can have', async t => {
  const loaded = await loadConfig(join(root, 'config/sidegate.yaml'), {})
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))

  const count = ceilingOf(seriesMakersOf(loaded.config)).toLocaleString('en-US')
  t.ok(page.text.replaceAll(/\s+/g, ' ').includes(`The file of \`npm start\` comes to ${count}.`))
})
