import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { rawCases } from './raw-cases/all.ts'
import { checklist, cite, lineOf } from './support/checklist.ts'

const root = dirname(import.meta.dirname)

/** The citations of titles and assertions: `(RFC 9112 section 6.3; checklist I1)`. */
const citations = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.test.ts') && path !== join('gateway', 'checklist.test.ts'))
  .flatMap(path => [
    ...readFileSync(join(root, path), 'utf8').matchAll(/ \((?:([^()]*); )?checklist ([A-Z]\d+(?:, [A-Z]\d+)*)\)/g),
  ])
  .map(([text, sources = '', ids = '']) => ({ text, sources: sources.split(', '), ids: ids.split(', ') }))

t.test('every line of checklist.md has a test', async t => {
  const cited = new Set([...citations.flatMap(({ ids }) => ids), ...rawCases.map(({ id }) => lineOf(id))])

  t.ok(checklist.size > 50, `${checklist.size} lines`)
  t.same(
    [...checklist.keys()].filter(id => !cited.has(id)),
    [],
  )
})

t.test('a citation names a line of checklist.md, and the section of the line', async t => {
  const expected = (ids: readonly string[]): readonly string[] => {
    const sources = new Set(ids.map(id => checklist.get(id) ?? 'not in checklist.md'))
    sources.delete('Sidegate')
    return sources.size === 0 ? [''] : [...sources]
  }

  t.ok(citations.length > 20)
  t.same(
    citations.filter(({ ids, sources }) => expected(ids).join(', ') !== sources.join(', ')).map(({ text }) => text),
    [],
  )
  t.same(
    rawCases.filter(({ id }) => !checklist.has(lineOf(id))).map(({ id }) => id),
    [],
  )
})

t.test('the title of a raw case ends with the section of its line', async t => {
  t.equal(cite('R06b'), '(RFC 3986 section 6.2.2; checklist R06b)')
  t.equal(cite('S26a'), '(checklist S26a)')
})
