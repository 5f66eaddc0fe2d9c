/**
 * Holds the table of README.md to the tests: a test that is named `line N: …` keeps line N of the checklist. Prints the
 * rows that belong there when they differ.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

/** The lines that hold whole. A line that comes to hold is added here; none is ever taken away. */
const heldLines: readonly (number | readonly [first: number, last: number])[] = [
  [1, 11],
  [13, 19],
  21,
  24,
  [26, 30],
  [33, 42],
  [44, 47],
  [49, 54],
  [56, 57],
  59,
  [67, 74],
  [76, 83],
  93,
]

interface ChecklistTest {
  readonly lines: readonly number[]
  /** By its path below this folder. */
  readonly file: string
  readonly name: string
}

const folder = import.meta.dirname

const readTests = (): readonly ChecklistTest[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(path => path.replaceAll('\\', '/'))
    .filter(path => path.endsWith('.test.ts') && path !== 'checklist.test.ts')
    .toSorted()
    .flatMap(file => testsIn(file, readFileSync(join(folder, file), 'utf8')))

/** Names that stand in a call of `test` itself: what is skipped or still to do is called otherwise. */
const testCall = /\bt\.test\(\s*(['"`])line ([\d, ]+): ((?:\\.|(?!\1).)*)\1,(?!\s*\{)/g

const testsIn = (file: string, source: string): readonly ChecklistTest[] =>
  [...source.matchAll(testCall)].map(([, , lines = '', name = '']) => ({
    lines: lines.split(', ').map(Number),
    file,
    name: name.replace(/ \(\$\{\w+\}\)$/, ''), // a test that runs for several formats or stores
  }))

const toRows = (tests: readonly ChecklistTest[]): readonly string[] =>
  tests
    .flatMap(({ lines, file, name }) => lines.map(line => ({ line, file, name })))
    .toSorted((a, b) => a.line - b.line)
    .map(({ line, file, name }) => `| ${line} | [${file}](${file}) | ${name} |`)

const expand = (lines: typeof heldLines): readonly number[] =>
  lines.flatMap(line =>
    typeof line === 'number' ? line : Array.from({ length: line[1] - line[0] + 1 }, (_, i) => line[0] + i),
  )

t.test('every line of the checklist that holds whole has a test', async t => {
  const tested = new Set(readTests().flatMap(({ lines }) => lines))

  t.same(
    expand(heldLines).filter(line => !tested.has(line)),
    [],
  )
})

t.test('the table of README.md names every test of a line, and no other', async t => {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')

  t.same(
    readme.split('\n').filter(row => /^\| \d/.test(row)),
    toRows(readTests()),
  )
})

t.test('a test that is skipped, or has another name, keeps no line', async t => {
  const named = (source: string): readonly string[] => toRows(testsIn('x.test.ts', source))

  t.same(named("t.test('line 3, 4: a sentence', async t => {})"), [
    '| 3 | [x.test.ts](x.test.ts) | a sentence |',
    '| 4 | [x.test.ts](x.test.ts) | a sentence |',
  ])
  t.same(named("t.skip('line 3: a sentence', async t => {})"), [])
  t.same(named("t.test('line 3: a sentence', { skip: true }, async t => {})"), [])
  t.same(named("t.test('a sentence of line 3', async t => {})"), [])
})
