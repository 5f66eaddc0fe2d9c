/** The path of a value in the configuration: keys and list indexes from the root. */
export type Path = readonly (string | number)[]

/** A problem of the configuration before its position in the file is looked up. */
export interface Fault {
  readonly path: Path
  /** Whether the key itself is wrong, or its value (or a missing value). */
  readonly at: 'key' | 'value'
  /** The problem and its correction. Never repeats a secret, nor a value that may be one. */
  readonly message: string
}

/** A problem of the configuration as it is shown to an operator or an editor. */
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

/** `clients[0].redirect_uris[1]`: a path as messages show it. */
export const pathText = (path: Path): string => path.map((step, index) => stepText(step, path.slice(0, index))).join('')

const stepText = (step: string | number, above: Path): string => {
  if (typeof step === 'number') return `[${step}]`
  const text = isName(step, above) ? JSON.stringify(step) : keyText(step)
  return above.length === 0 ? text : `.${text}`
}

/**
 * A scope or an operation, such as `GET /v1/items`, if it is a key of a mapping that has such keys. No other key looks
 * like it.
 */
const isName = (key: string, above: Path): boolean => {
  const [part, , within] = above
  if (part === 'plans' && within === 'operations') return /^[A-Z]{3,7} \/\S*$/.test(key)
  return part === 'scopes' && above.length === 1 && /^[!#-[\]-~]{1,42}$/.test(key) && /[:/]/.test(key)
}

/**
 * A key as messages show it. A key with an unusual form may contain a secret, for example if a colon is missing; then
 * only line and column point to it. The longest known key has 42 characters, and a secret of 256 bits is longer in any
 * encoding.
 */
const keyText = (key: string): string => {
  if (!/^[\w.-]{1,42}$/.test(key)) return '(a key)'
  return key.includes('.') ? JSON.stringify(key) : key
}

/** A list of keys to choose from. */
export const keysText = (keys: readonly string[]): string => keys.map(keyText).join(', ')

/** A text that identifies a path, for maps and sets. */
export const pathKey = (path: Path): string => JSON.stringify(path)

export const startsWith = (path: Path, start: Path): boolean =>
  start.length <= path.length && start.every((step, index) => path[index] === step)
