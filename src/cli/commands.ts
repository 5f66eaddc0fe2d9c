import { findNearest } from '../config/source/did-you-mean.ts'
import { messageOf } from '../errors.ts'
import { hasFilesUnderWay } from '../files/deadline.ts'
import { StoreUnavailableError } from '../stores/ports/store-unavailable.ts'
import { type Command, UsageError } from './command.ts'
import { printErrorLine, printLine } from './output.ts'

/**
 * Every command by its name, in the order of the help; loaded when it is called. A new command is one file, and one
 * line here.
 */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serve,
  start: async () => (await import('./commands/start.ts')).start,
  check: async () => (await import('./commands/check.ts')).check,
  routes: async () => (await import('./commands/routes.ts')).routes,
  'client new': async () => (await import('./client/new.ts')).clientNew,
  'client list': async () => (await import('./client/list.ts')).clientList,
  'client disable': async () => (await import('./client/enable.ts')).clientDisable,
  'client enable': async () => (await import('./client/enable.ts')).clientEnable,
  'client rotate-secret': async () => (await import('./client/rotate-secret.ts')).clientRotateSecret,
  'client delete': async () => (await import('./client/delete.ts')).clientDelete,
  'keys list': async () => (await import('./keys/list.ts')).keysList,
  'keys rotate': async () => (await import('./keys/rotate.ts')).keysRotate,
  'tokens revoke': async () => (await import('./tokens/revoke.ts')).tokensRevoke,
  'store backup': async () => (await import('./store/backup.ts')).storeBackup,
  'store restore': async () => (await import('./store/restore.ts')).storeRestore,
  'store copy': async () => (await import('./store/copy.ts')).storeCopy,
  top: async () => (await import('./top/top.ts')).top,
  hash: async () => (await import('./commands/hash.ts')).hash,
  'hash-secret': async () => (await import('./commands/hash.ts')).hashSecretCommand,
  schema: async () => (await import('./commands/schema.ts')).schema,
  version: async () => (await import('./commands/version.ts')).version,
  worker: async () => (await import('./commands/worker.ts')).worker,
}

/**
 * Runs one command line and resolves to its exit code. Never throws: an error is printed as one line on standard error.
 */
export const runCommand = async (args: readonly string[]): Promise<number> => {
  const exitCode = await run(args)
  // A file system that hangs would keep the process alive. A worker continues after its command has returned.
  if (args[0] !== 'worker' && hasFilesUnderWay()) process.exit(exitCode)
  return exitCode
}

const run = async (args: readonly string[]): Promise<number> => {
  try {
    if (isHelp(args)) {
      printLine(helpText(await Promise.all(Object.values(commands).map(load => load()))))
      return 0
    }
    const { load, rest } = findCommand(args)
    const command = await load()
    return await command.run(rest)
  } catch (error) {
    return report(error)
  }
}

const isHelp = (args: readonly string[]): boolean =>
  args[0] === 'help' || args.includes('--help') || args.includes('-h')

const findCommand = (args: readonly string[]) => {
  const words = args[0] === '--version' ? ['version'] : args
  for (const [name, load] of Object.entries(commands)) {
    const { length } = name.split(' ')
    if (words.slice(0, length).join(' ') === name) return { load, rest: words.slice(length) }
  }
  if (args[0] === undefined) throw new UsageError('a command is missing')
  const nearest = findNearestCommand(args)
  throw new UsageError(`there is no such command${nearest ? `; did you mean ${nearest}?` : ''}`)
}

/** The most similar command to the first two words, or to the first one alone. */
const findNearestCommand = (args: readonly string[]): string | undefined => {
  const names = Object.keys(commands)
  const [first = '', second = ''] = args
  return findNearest(`${first} ${second}`, names) ?? findNearest(first, names)
}

const report = (error: unknown): number => {
  const message = messageOf(error)
  const why = error instanceof StoreUnavailableError ? `: ${error.reason}` : ''
  const isUsage = error instanceof UsageError
  printErrorLine(`sidegate: ${message}${why}${isUsage ? '; sidegate --help lists the commands' : ''}`)
  return isUsage ? 2 : 1
}

/** The output of `sidegate --help`. */
const helpText = (commands: readonly Command[]): string => {
  const entries = commands.filter(command => !command.hidden).map(toEntry)
  return `Sidegate: an OAuth 2.0 authorization server and an API gateway.\n\n${entries.join('\n')}\n\n${footer}`
}

const toEntry = ({ name, synopsis, summary }: Command): string =>
  `  sidegate ${[name, synopsis].filter(Boolean).join(' ')}\n      ${summary}`

const footer = 'Exit codes: 0 ok or drained, 1 bad configuration or failure, 2 bad usage.'
