import { runCommand } from './cli/commands.ts'

/** Where Sidegate starts: the command line decides what runs, and the exit code is what the command returns. */
process.exitCode = await runCommand(process.argv.slice(2))
