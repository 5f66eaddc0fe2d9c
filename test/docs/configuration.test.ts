import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { codeOf, readPages, root, rowsOf } from './markdown.ts'

const docs = readPages('docs')

t.test(
  'the documentation has every environment variable that the program and the configuration beside it read, and no other',
  async t => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(path =>
      path.endsWith('.ts'),
    )
    const read = sources.flatMap(path =>
      [...readFileSync(join(root, 'src', path), 'utf8').matchAll(/\benv\.([A-Z]\w*)/g)].map(([, name]) => name),
    )
    const sample = JSON.stringify(parse(readFileSync(join(root, 'config/sidegate.yaml'), 'utf8')))
    const referred = [...sample.matchAll(/\$\{([A-Z]\w*):-/g)].map(([, name]) => name)
    const rows = rowsOf(docs, 'Variable', 'Meaning').flatMap(([name]) => codeOf(name))

    t.same(rows.toSorted(), [...new Set([...read, ...referred])].sort())
  },
)
