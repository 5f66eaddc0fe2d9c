import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/**
 * Reads the lines of checklist.md, and the tests that cite them: a title that ends with
 * `(RFC 6749 section 3.2; checklist 1)` cites line 1. As a program it writes the table of README.md anew.
 */

export interface Requirement {
  readonly line: number
  /** The sections that the requirement comes from. */
  readonly sources: readonly string[]
}

export interface Citation {
  /** By its path from `test/oauth`. */
  readonly file: string
  readonly lines: readonly number[]
  readonly sources: readonly string[]
}

export interface ChecklistTest extends Citation {
  readonly name: string
}

const folder = dirname(import.meta.dirname)
export const readmeFile = join(folder, 'README.md')

export const readRequirements = (): readonly Requirement[] =>
  readFileSync(join(folder, 'checklist.md'), 'utf8')
    .split('\n')
    .filter(isRow)
    .map(row => {
      const [line, , sources = ''] = row.slice('| '.length, -' |'.length).split(' | ')
      return { line: Number(line), sources: sources.split('; ') }
    })

const readTestFiles = (): readonly (readonly [file: string, source: string])[] => {
  const root = dirname(folder)
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.test.ts'))
    .map(path => [relative(folder, join(root, path)).replaceAll('\\', '/'), join(root, path)] as const)
    .filter(([file]) => file !== 'checklist.test.ts')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, path]) => [file, readFileSync(path, 'utf8')])
}

/** The end of a title: the sections, unless the rule is Sidegate's own, and the lines. */
const citation = String.raw` \((?:([^()]*); )?checklist ([\d, ]+)\)`

/** A title in a call of `test` itself; a skipped test is called by another name or has options. */
const testCall = new RegExp(String.raw`\bt\.test\(\s*(['"\x60])((?:\\.|(?!\1).)*?)${citation}\1,(?!\s*\{)`, 'g')

const split = (list = ''): readonly string[] => (list === '' ? [] : list.split(', '))

export const testsIn = (file: string, source: string): readonly ChecklistTest[] =>
  [...source.matchAll(testCall)].map(([, , name = '', sources, lines]) => ({
    file,
    lines: split(lines).map(Number),
    sources: split(sources),
    name: name.replace(/ \(\$\{\w+\}\)$/, ''), // a test that runs for several formats or stores
  }))

export const readTests = (): readonly ChecklistTest[] =>
  readTestFiles().flatMap(([file, source]) => testsIn(file, source))

/** Every citation, also those of assertions and of titles that a test puts together. */
export const readCitations = (): readonly Citation[] =>
  readTestFiles().flatMap(([file, source]) =>
    [...source.matchAll(new RegExp(citation, 'g'))].map(([, sources, lines]) => ({
      file,
      lines: split(lines).map(Number),
      sources: split(sources),
    })),
  )

/** The tests over real sockets and on each store come first, then the tests that are closer to the code. */
export const toRows = (tests: readonly ChecklistTest[]): readonly string[] =>
  tests
    .flatMap(({ lines, file, name }) => lines.map(line => ({ line, file, name })))
    .toSorted((a, b) => a.line - b.line || Number(isOnTheWire(b)) - Number(isOnTheWire(a)))
    .map(({ line, file, name }) => `| ${line} | [${file}](${file}) | ${name.replaceAll('|', '\\|')} |`)

/** Whether the test runs the real program over real sockets, on each store. */
export const isOnTheWire = ({ file }: Pick<ChecklistTest, 'file'>): boolean => file.startsWith('checklist/')

export const isRow = (line: string): boolean => /^\| \d/.test(line)

if (process.argv[1] === import.meta.filename) {
  const text = readFileSync(readmeFile, 'utf8').split('\n')
  const before = text.slice(0, text.findIndex(isRow))
  const after = text.slice(text.findLastIndex(isRow) + 1)
  writeFileSync(readmeFile, [...before, ...toRows(readTests()), ...after].join('\n'))
}
