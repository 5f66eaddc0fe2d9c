import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { codeOf, readPage, readPages, root, rowsOf } from './markdown.ts'

t.test('the page about load has what can be set of both scripts, and nothing else', async t => {
  const text = (file: string): string => readFileSync(join(root, 'test/load', file), 'utf8')
  const settings = [
    ...[...text('k6.js').matchAll(/__ENV\.(\w+)|toCount\('(\w+)'/g)].map(([, name, count]) => name ?? count ?? ''),
    ...[...text('autocannon.ts').matchAll(/^ {2}(--[\w-]+) [A-Z]/gm)].map(([, option = '']) => option),
  ]

  const rows = rowsOf(
    readPage('test/load/README.md'),
    '[k6.js](k6.js)',
    '[autocannon.ts](autocannon.ts)',
    'Without it',
    'Meaning',
  )
  const documented = rows.flatMap(([variable, option]) => [...codeOf(variable), ...codeOf(option)])
  t.same([...new Set(documented)].sort(), [...new Set(settings)].sort())
})

t.test('every npm script that a page names exists', async t => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const named = readPages().flatMap(({ text }) =>
    [...text.matchAll(/npm (?:run (?:-s )?([\w:-]+)|(start|test))\b/g)].map(([, run, own]) => run ?? own ?? ''),
  )

  t.ok(named.length > 0, 'there are scripts')
  t.same(
    named.filter(name => !(name in scripts)),
    [],
  )
})

t.test('no page runs a program of the project by the Node of the system, which may be too old for it', async t => {
  const calls = readPages().flatMap(({ text }) => text.match(/(?:npx )?\bnode [\w./-]+\.ts\b/g) ?? [])

  t.ok(calls.length > 0, 'there are such programs')
  t.same(
    calls.filter(call => !call.startsWith('npx ')),
    [],
  )
})
