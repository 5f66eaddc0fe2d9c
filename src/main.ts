import { runCommand } from './cli/commands.ts'
import { exitWithoutHelperThreads } from './files/deadline.ts'

/** Where Sidegate starts: the command line decides what runs, and the exit code is what the command returns. */
process.on('exit', exitWithoutHelperThreads)
process.exitCode = await runCommand(process.argv.slice(2))
