import { rules } from './rules.ts'
import { type ReadText, textsOfCode, textsOfMarkdown } from './texts.ts'

const maxColumns = 120

/** These speak another language, or show what the rules find. */
const excluded = [
  /^src\/oauth\/pages\/locales\/de\.ts$/,
  /^test\/prose\//,
  /^LICENSE$/,
  /^test\/load\/limits\/.*\.lua$/,
]

/** A line `path:line: what is wrong: the words` for each finding. @param read is called for the files that have prose */
export const findInProse = (path: string, read: () => string): readonly string[] => {
  if (excluded.some(pattern => pattern.test(path))) return []
  if (path.endsWith('.md')) return findIn(path, textsOfMarkdown(read()))
  if (!/\.(?:ts|cjs|js)$/.test(path)) return []
  const code = read()
  const texts = textsOfCode(code).filter(({ kind, text }) => kind === 'comment' || /\S+ \S+ \S+/.test(text))
  return [...findIn(path, texts), ...findLongComments(path, code)]
}

const findIn = (path: string, texts: readonly ReadText[]): readonly string[] =>
  texts.flatMap(({ line, text }) =>
    rules.flatMap(({ name, pattern, advice }) =>
      [...text.matchAll(pattern)].map(({ 0: found, index }) => {
        const at = line + text.slice(0, index).split('\n').length - 1
        return `${path}:${at}: ${name} (${advice}): ${found.trim()}`
      }),
    ),
  )

const findLongComments = (path: string, code: string): readonly string[] =>
  code
    .split('\n')
    .flatMap((line, nth) =>
      line.length > maxColumns && /^\s*(?:\/\/|\/?\*)/.test(line)
        ? [`${path}:${nth + 1}: a comment of ${line.length} columns, where ${maxColumns} are the most`]
        : [],
    )
