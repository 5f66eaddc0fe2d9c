import { readFileSync } from 'node:fs'
import t from 'tap'
import { isOnTheWire, isRow, readmeFile, readTests, testsIn, toRows } from './support/checklist-table.ts'

/** The lines that hold whole on the wire. A line that comes to hold is added here; none is ever taken away. */
const heldLines: readonly (readonly [first: number, last: number])[] = [[1, 96]]

const expand = (lines: typeof heldLines): readonly number[] =>
  lines.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i))

t.test('every line of the checklist that holds has a test over real sockets, on each store', async t => {
  const tested = new Set(
    readTests()
      .filter(isOnTheWire)
      .flatMap(({ lines }) => lines),
  )

  t.same(
    expand(heldLines).filter(line => !tested.has(line)),
    [],
  )
})

t.test('the table of README.md names every test of a line, and no other', async t => {
  t.same(
    readFileSync(readmeFile, 'utf8').split('\n').filter(isRow),
    toRows(readTests()),
    'npx node test/oauth/support/checklist-table.ts writes it anew',
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
