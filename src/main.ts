import { runCommand } from './cli/commands.ts'
import { exitWithoutHelperThreads } from './files/deadline.ts'

/** The entry point: the command line selects a command, whose result is the exit code. */
process.on('exit', exitWithoutHelperThreads)
process.exitCode = await runCommand(process.argv.slice(2))
