import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  isOnTheWire,
  isRow,
  readCitations,
  readmeFile,
  readRequirements,
  readTests,
  testsIn,
  toRows,
} from './support/checklist-table.ts'

/** The lines without a test over real sockets on each store. Lines may be removed here, and never added. */
const notOnTheWire: readonly number[] = [99]

const requirements = readRequirements()
const tests = readTests()

t.test('every line of checklist.md has a number of its own and a source', async t => {
  const numbers = requirements.map(({ line }) => line)

  t.ok(numbers.length > 90, `${numbers.length} lines`)
  t.equal(new Set(numbers).size, numbers.length)
  t.same(
    requirements.filter(({ sources }) => sources.some(source => !/^(RFC \d+|FAPI|OpenID|Sidegate)/.test(source))),
    [],
  )
})

t.test('every line of checklist.md has a test, over real sockets on each store', async t => {
  const untested = (found: typeof tests): readonly number[] => {
    const lines = new Set(found.flatMap(({ lines }) => lines))
    return requirements.map(({ line }) => line).filter(line => !lines.has(line))
  }

  t.same(untested(tests), [])
  t.same(untested(tests.filter(isOnTheWire)), notOnTheWire)
})

t.test('a citation names a line of checklist.md, and sections that the line names', async t => {
  const sourcesOf = new Map(requirements.map(({ line, sources }) => [line, sources]))
  const isRight = ({ lines, sources }: ReturnType<typeof readCitations>[number]): boolean => {
    const known = lines.flatMap(line => sourcesOf.get(line) ?? [])
    const isOwnRule = known.every(source => source === 'Sidegate')
    return (
      lines.every(line => sourcesOf.has(line)) &&
      sources.every(source => known.includes(source)) &&
      isOwnRule === (sources.length === 0)
    )
  }
  const citations = readCitations()

  t.ok(citations.length >= tests.length)
  t.same(
    citations.filter(citation => !isRight(citation)),
    [],
  )
})

t.test('the table of README.md names every test of a line, and no other', async t => {
  t.same(
    readFileSync(readmeFile, 'utf8').split('\n').filter(isRow),
    toRows(tests),
    'npx node test/oauth/support/checklist-table.ts writes the table anew',
  )
})

t.test('a skipped test, and a title that does not end with a citation, cover no line', async t => {
  const named = (source: string): readonly string[] => toRows(testsIn('x.test.ts', source))

  t.same(named("t.test('a sentence (RFC 1 section 2; checklist 3, 4)', async t => {})"), [
    '| 3 | [x.test.ts](x.test.ts) | a sentence |',
    '| 4 | [x.test.ts](x.test.ts) | a sentence |',
  ])
  t.same(named("t.test('a sentence (checklist 3)', async t => {})"), ['| 3 | [x.test.ts](x.test.ts) | a sentence |'])
  t.same(named("t.skip('a sentence (checklist 3)', async t => {})"), [])
  t.same(named("t.test('a sentence (checklist 3)', { skip: true }, async t => {})"), [])
  t.same(named("t.test('a sentence of checklist 3', async t => {})"), [])
})
