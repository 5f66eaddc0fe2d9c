import { type ParseArgsConfig, parseArgs } from 'node:util'
import { identifierFault } from '../config/values/names.ts'
import { messageOf } from '../errors.ts'

/** One command of the command line. */
export interface Command {
  /** One or two words. */
  readonly name: string
  /** The arguments after the name, in the notation of manual pages. */
  readonly synopsis: string
  readonly summary: string
  /** Not listed in the help, because only Sidegate itself uses the command. */
  readonly hidden?: boolean
  /**
   * @param args the arguments after the name
   * @returns the exit code: 0 done or drained, 1 bad configuration or failure
   * @throws UsageError if the arguments are not valid
   */
  run(args: readonly string[]): Promise<number> | number
}

/** The arguments are not valid. Printed as one line on standard error; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

type Options = NonNullable<ParseArgsConfig['options']>

/**
 * The options of a command without other arguments.
 * @param explainExtra the message for an argument that no option takes; the default does not repeat the argument,
 * because it may be a secret that was meant to be hashed
 * @throws UsageError
 */
export const parseOptions = <const T extends Options>(
  args: readonly string[],
  options: T,
  explainExtra: (argument: string) => string = () =>
    'there is an extra argument, which belongs to no option such as --config',
) => {
  const { values, positionals } = parseStrictly(args, options)
  const [extra] = positionals
  if (extra !== undefined) throw new UsageError(explainExtra(extra))
  return values
}

/**
 * The options of a command with one more argument, a name, and that name.
 * @param what the argument as the synopsis calls it: `CLIENT_ID`
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

/**
 * Reduces the message to its first sentence: Node adds advice about `--`, and its message about a value that looks like
 * an option is longer than a line.
 */
const sentenceOf = (error: unknown): string => {
  const message = messageOf(error)
  const option = /^Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument is ambiguous/.exec(message)?.[1]
  if (option !== undefined)
    return `what follows ${option} begins with a dash; if it is its value, write ${option}=VALUE`
  return (message.split('. ')[0] ?? message).replaceAll('\n', ' ')
}

/**
 * Checks a name that is stored or printed even if it is unknown. @throws UsageError if no client or user can have it
 */
export const requireIdentifier = (what: string, text: string): string => {
  const fault = identifierFault(what)(text)
  if (fault !== undefined) throw new UsageError(fault)
  return text
}
