import { type ParseArgsConfig, parseArgs } from 'node:util'
import { identifierFault } from '../config/values/identifier.ts'
import { messageOf } from '../errors.ts'

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
 * @param explainExtra what to say of an argument that no option takes; by default it is not repeated, since it may be a
 * secret that somebody meant to be hashed
 * @throws UsageError
 */
export const parseOptions = <const T extends Options>(
  args: readonly string[],
  options: T,
  explainExtra: (argument: string) => string = () =>
    'there is an argument too many, which no option such as --config takes',
) => {
  const { values, positionals } = parseStrictly(args, options)
  const [extra] = positionals
  if (extra !== undefined) throw new UsageError(explainExtra(extra))
  return values
}

/**
 * The options of a command that is about one thing, and the name of that.
 * @param what it is, as the synopsis calls it: `CLIENT_ID`
 * @throws UsageError
 */
export const parseNamed = <const T extends Options>(args: readonly string[], options: T, what: string) => {
  const { values, positionals } = parseStrictly(args, options)
  const [name, extra] = positionals
  if (!name) throw new UsageError(`${what} is missing`)
  if (extra !== undefined) throw new UsageError(`one ${what} at a time`)
  return { name, options: values }
}

const parseStrictly = <const T extends Options>(args: readonly string[], options: T) => {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true })
  } catch (error) {
    throw new UsageError(sentenceOf(error))
  }
}

/** Node goes on with advice about `--`; and of a value that looks like an option it says more than a line holds. */
const sentenceOf = (error: unknown): string => {
  const message = messageOf(error)
  const option = /^Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument is ambiguous/.exec(message)?.[1]
  if (option !== undefined)
    return `what follows ${option} begins with a dash; if it is its value, write ${option}=VALUE`
  return (message.split('. ')[0] ?? message).replaceAll('\n', ' ')
}

/** A name that is written down or repeated whether anybody has it. @throws UsageError where nobody can have it */
export const requireIdentifier = (what: string, text: string): string => {
  const fault = identifierFault(what)(text)
  if (fault !== undefined) throw new UsageError(fault)
  return text
}
