import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Reads which test keeps which line of the checklist: a test that is named `line N: …` keeps line N. As a program it
 * writes the table of README.md anew.
 */

export interface ChecklistTest {
  readonly lines: readonly number[]
  /** By its path below `test/oauth`. */
  readonly file: string
  readonly name: string
}

const folder = dirname(import.meta.dirname)
export const readmeFile = join(folder, 'README.md')

export const readTests = (): readonly ChecklistTest[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(path => path.replaceAll('\\', '/'))
    .filter(path => path.endsWith('.test.ts') && path !== 'checklist.test.ts')
    .toSorted()
    .flatMap(file => testsIn(file, readFileSync(join(folder, file), 'utf8')))

/** Names that stand in a call of `test` itself: what is skipped or still to do is called otherwise. */
const testCall = /\bt\.test\(\s*(['"`])line ([\d, ]+): ((?:\\.|(?!\1).)*)\1,(?!\s*\{)/g

export const testsIn = (file: string, source: string): readonly ChecklistTest[] =>
  [...source.matchAll(testCall)].map(([, , lines = '', name = '']) => ({
    lines: lines.split(', ').map(Number),
    file,
    name: name.replace(/ \(\$\{\w+\}\)$/, ''), // a test that runs for several formats or stores
  }))

/** Over real sockets and on each store come first, then what stands closer to the code. */
export const toRows = (tests: readonly ChecklistTest[]): readonly string[] =>
  tests
    .flatMap(({ lines, file, name }) => lines.map(line => ({ line, file, name })))
    .toSorted((a, b) => a.line - b.line || Number(isOnTheWire(b)) - Number(isOnTheWire(a)))
    .map(({ line, file, name }) => `| ${line} | [${file}](${file}) | ${name.replaceAll('|', '\\|')} |`)

/** Whether it runs the real program over real sockets, on each store. */
export const isOnTheWire = ({ file }: Pick<ChecklistTest, 'file'>): boolean => file.startsWith('checklist/')

export const isRow = (line: string): boolean => /^\| \d/.test(line)

if (process.argv[1] === import.meta.filename) {
  const text = readFileSync(readmeFile, 'utf8').split('\n')
  const before = text.slice(0, text.findIndex(isRow))
  const after = text.slice(text.findLastIndex(isRow) + 1)
  writeFileSync(readmeFile, [...before, ...toRows(readTests()), ...after].join('\n'))
}
