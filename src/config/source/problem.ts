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
export const pathText = (path: Path): string =>
  path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? keyText(step) : `.${keyText(step)}`))
    .join('')

/**
 * A key as messages say it. One that does not look like a key may hold a secret, as where a colon was forgotten; then
 * line and column say where it stands.
 */
export const keyText = (key: string): string => {
  if (/^[\w-]{1,64}$/.test(key)) return key
  return /^[\w.-]{1,64}$/.test(key) ? JSON.stringify(key) : '(a key)'
}

/** Keys to choose from. */
export const keysText = (keys: readonly string[]): string => keys.map(keyText).join(', ')

/** One text for one path, for maps and sets. */
export const pathKey = (path: Path): string => JSON.stringify(path)

export const startsWith = (path: Path, start: Path): boolean =>
  start.length <= path.length && start.every((step, index) => path[index] === step)
