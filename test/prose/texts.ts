/** The texts of a file that a person reads, with the line on which each begins. */
export interface ReadText {
  readonly line: number
  readonly text: string
  readonly kind: 'comment' | 'string' | 'markdown'
}

/** A slash after one of these begins a regular expression; after anything else it divides. */
const beforeRegExp = /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|delete|void|await|yield))\s*$/

/** The comments and the string literals of TypeScript. The parts of a template literal around its values count as one text. */
export const textsOfCode = (code: string): readonly ReadText[] => {
  const texts: ReadText[] = []
  const scanner = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\//g
  for (let found = scanner.exec(code); found !== null; found = scanner.exec(code)) {
    const [token] = found
    if (token === '/') {
      if (beforeRegExp.test(code.slice(Math.max(0, found.index - 40), found.index))) {
        scanner.lastIndex = endOfRegExp(code, found.index)
      }
      continue
    }
    const kind = token.startsWith('/') ? 'comment' : 'string'
    texts.push({
      line: lineAt(code, found.index),
      text: kind === 'comment' ? plainComment(token) : plainString(token),
      kind,
    })
  }
  return joinLineComments(texts)
}

/** The prose of a Markdown page: no code block, no code span, no address of a link. */
export const textsOfMarkdown = (page: string): readonly ReadText[] => {
  let isCode = false
  return page.split('\n').flatMap((line, nth) => {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode
    else if (!isCode) return [{ line: nth + 1, text: plainMarkdown(line), kind: 'markdown' as const }]
    return []
  })
}

const plainMarkdown = (line: string): string => line.replaceAll(/`[^`]*`/g, '`…`').replaceAll(/\]\([^)]*\)/g, ']')

/** Without the values of a template literal. */
const plainString = (token: string): string => token.slice(1, -1).replaceAll(/\$\{[^{}]*\}/g, '…')

const plainComment = (token: string): string =>
  token
    .replaceAll(/^\/\*\*?|\*\/$|^\/\/ ?/g, '')
    .replaceAll(/\n\s*\* ?/g, '\n')
    .replaceAll(/`[^`\n]*`/g, '`…`')
    .trim()

/** Where a regular expression literal ends; at its own slash, where that is no literal after all. */
const endOfRegExp = (code: string, start: number): number => {
  let isClass = false
  for (let at = start + 1; at < code.length && code[at] !== '\n'; at++) {
    if (code[at] === '\\') at++
    else if (code[at] === '[') isClass = true
    else if (code[at] === ']') isClass = false
    else if (code[at] === '/' && !isClass) return at + 1
  }
  return start + 1
}

const lineAt = (code: string, index: number): number => code.slice(0, index).split('\n').length

/** Line comments on lines that follow each other are one text. */
const joinLineComments = (texts: readonly ReadText[]): readonly ReadText[] => {
  const joined: ReadText[] = []
  for (const text of texts) {
    const last = joined.at(-1)
    const follows = last !== undefined && last.line + last.text.split('\n').length === text.line
    if (last !== undefined && follows && last.kind === 'comment' && text.kind === 'comment') {
      joined[joined.length - 1] = { ...last, text: `${last.text}\n${text.text}` }
    } else joined.push(text)
  }
  return joined
}
