import { systemClock } from '../clock.ts'
import { loadConfig } from '../config/load.ts'
import { type Command, parseOptions, printLine } from './command.ts'
import { configOption, loadOrReport, requireConfigFile } from './config-file.ts'

/** Validates a configuration: `ok` on standard output, or every problem with its line and column on standard error. */
export const check: Command = {
  name: 'check',
  synopsis: '--config FILE [--json]',
  summary: 'says every problem in FILE with its line and column, or ok',
  run: async args => {
    const options = parseOptions(args, { ...configOption, json: { type: 'boolean' } })
    const file = requireConfigFile(options.config)
    return options.json ? checkForMachines(file) : checkForPeople(file)
  },
}

const checkForPeople = async (file: string): Promise<number> => {
  const config = await loadOrReport(file, systemClock.nowMs())
  if (!config) return 1
  printLine('ok')
  return 0
}

/** One JSON object on standard output: `ok`, and `problems` with `file`, `line`, `column` and `message` each. */
const checkForMachines = async (file: string): Promise<number> => {
  const loaded = await loadConfig(file, process.env, systemClock.nowMs())
  printLine(JSON.stringify({ ok: loaded.ok, problems: loaded.ok ? [] : loaded.problems }))
  return loaded.ok ? 0 : 1
}
