import { join } from 'node:path'
import t from 'tap'
import { loadConfig, type Operation } from '../../src/config/load.ts'
import { codeOf, readPages, root, rowsOf } from './markdown.ts'

const docs = readPages('docs')
const publishedGroupings = ['V1_Extension_2', 'V1_Extension_1', 'Psd2-V1-Oauth']

const operationsOf = async (file: string): Promise<readonly Operation[]> => {
  const loaded = await loadConfig(join(root, file), {})
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  return loaded.config.operations
}

t.test('the documentation has the published interface as config/sidegate.yaml has it', async t => {
  const configured = (await operationsOf('config/sidegate.yaml')).filter(({ grouping }) =>
    publishedGroupings.includes(grouping),
  )

  const documented = rowsOf(docs, 'Grouping', 'Version', 'Method', 'Path', 'Serves').map(
    ([grouping, version, method, path, serves]) => [grouping, version, method, codeOf(path)[0], serves],
  )
  t.equal(documented.length, 8)
  t.same(
    documented,
    configured.map(({ grouping, version, method, path, target }) => [
      grouping,
      version,
      method,
      path,
      target.kind === 'serve' ? target.serves : undefined,
    ]),
  )
})

/** Each point that the published interface does not specify, in its words. */
const leftOpen = [
  'what each operation does',
  'body of the metadata operation',
  'resources and their fields',
  'states and transitions',
  'payloads and parameters',
  'authentication of the other operations',
  'grant types',
  'scopes',
  'token lifetimes',
  'events',
  'error codes, bodies, statuses',
  'which operations a rate applies to',
  'quotas, payload sizes, time-outs',
  'versioning policy',
]

t.test(
  'the documentation says of every place that the interface leaves open what Sidegate does there, and why',
  async t => {
    const rows = rowsOf(docs, 'Left open', 'Behaviour of Sidegate', 'Reason')

    for (const place of leftOpen)
      t.ok(
        rows.some(([open]) => open === place),
        place,
      )
    for (const row of rows) t.notOk(row.includes(''), `${row[0]}: no cell is empty`)
  },
)
