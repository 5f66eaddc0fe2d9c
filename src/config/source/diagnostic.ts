/** Where a value stands in the configuration: keys and list indexes from the root. */
export type Path = readonly (string | number)[]

/** Something wrong with the configuration, before its place in the file is looked up. */
export interface Fault {
  readonly path: Path
  /** Whether the key itself is wrong, or the value (or absence) it has. */
  readonly at: 'key' | 'value'
  /** What is wrong, and what would be right. Never repeats a secret, nor a value that may be one. */
  readonly message: string
}

/** Something wrong with the configuration, as a person or an editor is told. */
export interface Problem {
  readonly file: string
  /** Counted from 1. */
  readonly line: number
  /** Counted from 1, in UTF-16 code units. */
  readonly column: number
  readonly message: string
}

/** One line, in the form that compilers use and editors jump to: `FILE:LINE:COLUMN: what is wrong`. */
export const formatProblem = ({ file, line, column, message }: Problem): string =>
  `${file}:${line}:${column}: ${message}`

/** `clients[0].redirect_uris[1]`: how messages name a place. */
export const pathText = (path: Path): string => path.map((step, index) => stepText(step, path.slice(0, index))).join('')

const stepText = (step: string | number, above: Path): string => {
  if (typeof step === 'number') return `[${step}]`
  const text = isName(step, above) ? JSON.stringify(step) : keyText(step)
  return above.length === 0 ? text : `.${text}`
}

/** A scope or an operation, such as `GET /v1/items`, where those are keys, and no other key looks like it. */
const isName = (key: string, above: Path): boolean => {
  const [part, , within] = above
  if (part === 'plans' && within === 'operations') return /^[A-Z]{3,7} \/\S*$/.test(key)
  return part === 'scopes' && above.length === 1 && /^[!#-[\]-~]{1,42}$/.test(key) && /[:/]/.test(key)
}

/**
 * A key as messages say it. One that does not look like a key may hold a secret, as where a colon was forgotten; then
 * line and column say where it stands. The longest known key has 42 characters, and 256 bits are more in any form.
 */
const keyText = (key: string): string => {
  if (!/^[\w.-]{1,42}$/.test(key)) return '(a key)'
  return key.includes('.') ? JSON.stringify(key) : key
}

/** Keys to choose from. */
export const keysText = (keys: readonly string[]): string => keys.map(keyText).join(', ')

/** One text for one path, for maps and sets. */
export const pathKey = (path: Path): string => JSON.stringify(path)

export const startsWith = (path: Path, start: Path): boolean =>
  start.length <= path.length && start.every((step, index) => path[index] === step)
