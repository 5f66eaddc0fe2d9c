import { check } from './check.ts'
import { clientNew } from './client-new.ts'
import { type Command, printErrorLine, printLine, UsageError } from './command.ts'
import { hash } from './hash.ts'
import { helpText } from './help.ts'
import { keysList } from './keys-list.ts'
import { keysRotate } from './keys-rotate.ts'
import { routes } from './routes.ts'
import { schema } from './schema.ts'
import { serve } from './serve.ts'
import { start } from './start.ts'
import { version } from './version.ts'
import { worker } from './worker.ts'

/** Every command. A new one is one file and one line here. */
const commands: readonly Command[] = [
  serve,
  start,
  check,
  routes,
  clientNew,
  keysList,
  keysRotate,
  hash,
  schema,
  version,
  worker,
]

/** Runs one command line and resolves to its exit code. Never throws: what goes wrong is one line on standard error. */
export const runCommand = async (args: readonly string[]): Promise<number> => {
  try {
    if (isHelp(args)) {
      printLine(helpText(commands))
      return 0
    }
    const command = findCommand(args)
    return await command.run(args.slice(command.name.split(' ').length))
  } catch (error) {
    return report(error)
  }
}

const isHelp = (args: readonly string[]): boolean =>
  args[0] === 'help' || args.includes('--help') || args.includes('-h')

const findCommand = (args: readonly string[]): Command => {
  const words = args[0] === '--version' ? ['version'] : args
  const command = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
  if (command) return command
  throw new UsageError(args[0] === undefined ? 'needs a command' : 'there is no such command')
}

const report = (error: unknown): number => {
  const message = error instanceof Error ? error.message : String(error)
  const isUsage = error instanceof UsageError
  printErrorLine(`sidegate: ${message}${isUsage ? '; sidegate --help lists what there is' : ''}`)
  return isUsage ? 2 : 1
}
