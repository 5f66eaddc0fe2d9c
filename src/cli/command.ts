import { type ParseArgsConfig, parseArgs } from 'node:util'

/** One word of the command line and what it does. */
export interface Command {
  /** One or two words. */
  readonly name: string
  /** What follows the name, in the notation of manual pages. */
  readonly synopsis: string
  readonly summary: string
  /** Not listed in the help: for Sidegate itself. */
  readonly hidden?: boolean
  /**
   * @param args what follows the name
   * @returns the exit code: 0 done or drained, 1 bad configuration or failure
   * @throws UsageError for arguments that make no sense
   */
  run(args: readonly string[]): Promise<number> | number
}

/** The command line makes no sense. One line on standard error, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

type Options = NonNullable<ParseArgsConfig['options']>

/**
 * The options of a command; nothing else may stand among its arguments.
 * @throws UsageError
 */
export const parseOptions = <const T extends Options>(args: readonly string[], options: T) => {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError(sentenceOf(error))
  }
}

const sentenceOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  // What stands there may be a secret that somebody meant to be hashed.
  if ('code' in error && error.code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') {
    return 'there is an argument too many, which no option such as --config takes'
  }
  // Node goes on with advice about `--`, on the same line.
  return error.message.split('. ')[0] ?? error.message
}

export const printLine = (line: string): void => void process.stdout.write(`${line}\n`)

export const printErrorLine = (line: string): void => void process.stderr.write(`${line}\n`)
