import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** A table of a page: its column headings, and its rows, each cell without the spaces around it. */
export interface Table {
  readonly headings: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A fenced block: its language, and what stands between the fences. */
export interface Block {
  readonly language: string
  readonly text: string
}

/** One Markdown page of the project, as the tests read it. */
export interface Page {
  readonly path: string
  readonly text: string
  readonly tables: readonly Table[]
  readonly blocks: readonly Block[]
}

/** @param path below the root of the project */
export const readPage = (path: string): Page => toPage(path, readFileSync(join(root, path), 'utf8'))

/** All pages below a folder, or of the whole project. */
export const readPages = (folder = '.'): readonly Page[] => pathsBelow(folder).map(readPage)

const skipped = ['node_modules', 'dist', 'data', '.git', '.tap']

const pathsBelow = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return skipped.includes(entry.name) ? [] : pathsBelow(path)
    return entry.name.endsWith('.md') ? [path] : []
  })

export const toPage = (path: string, text: string): Page => ({
  path,
  text,
  tables: tablesOf(text),
  blocks: blocksOf(text),
})

/**
 * A page's part from one heading to the next of the same depth or above.
 * @throws Error where there is no such heading
 */
export const sectionOf = (page: Page, heading: string): Page => {
  const lines = page.text.split('\n')
  const start = lines.indexOf(heading)
  if (start < 0) throw new Error(`${page.path} has no heading "${heading}"`)
  const depth = depthOf(heading)
  const length = lines.slice(start + 1).findIndex(line => depthOf(line) > 0 && depthOf(line) <= depth)
  return toPage(page.path, lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n'))
}

/** The rows of all tables with these headings, in the order of the pages: a table may move from one page to another. */
export const rowsOf = (pages: Page | readonly Page[], ...headings: readonly string[]): Table['rows'] =>
  [pages]
    .flat()
    .flatMap(({ tables }) => tables)
    .filter(table => table.headings.join('|') === headings.join('|'))
    .flatMap(({ rows }) => rows)

/** The texts of the code spans of a cell. */
export const codeOf = (cell: string | undefined): readonly string[] =>
  [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

const depthOf = (line: string): number => /^(#{2,6}) /.exec(line)?.[1]?.length ?? 0

const tablesOf = (text: string): readonly Table[] =>
  [...withoutBlocks(text).matchAll(/^\|.*\|\n\|[-| ]+\|\n(?:\|.*\|(?:\n|$))*/gm)].map(([table]) => {
    const [headings = [], , ...rows] = table.trim().split('\n').map(cellsOf)
    return { headings, rows }
  })

/** A `\|` stands for itself, as it does on the page. */
const cellsOf = (line: string): readonly string[] =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map(cell => cell.trim().replaceAll('\\|', '|'))

const fence = /^ *```(\w*)\n([\s\S]*?)^ *```$/gm

const blocksOf = (text: string): readonly Block[] =>
  [...text.matchAll(fence)].map(([, language = '', body = '']) => ({ language, text: body }))

/** Without fenced blocks, where a line may look like a table, a heading or a link. */
export const withoutBlocks = (text: string): string => text.replace(fence, '')
