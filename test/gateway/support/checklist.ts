import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The lines of checklist.md: the source of each requirement by its id. */
const readSources = (): ReadonlyMap<string, string> => {
  const text = readFileSync(join(dirname(import.meta.dirname), 'checklist.md'), 'utf8')
  return new Map(
    [...text.matchAll(/^\| ([A-Z]\d+) \| .* \| ([^|]+) \|$/gm)].map(([, id = '', source = '']) => [id, source]),
  )
}

export const checklist = readSources()

/** The line that a raw case belongs to: its id without the text that tells it from its neighbours. */
export const lineOf = (id: string): string => /^[A-Z]\d+/.exec(id)?.[0] ?? id

/** The end of a raw case's title. */
export const cite = (id: string): string => {
  const source = checklist.get(lineOf(id))
  return source === undefined || source === 'Sidegate' ? `(checklist ${id})` : `(${source}; checklist ${id})`
}
