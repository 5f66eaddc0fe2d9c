import { systemClock } from '../clock.ts'
import {
  type ExaminedConfig,
  examineConfig,
  formatWarning,
  parseDurationMs,
  warningRuleIds,
} from '../config/examine.ts'
import { formatProblem, loadConfig } from '../config/load.ts'
import { type Command, parseOptions, printErrorLine, printLine, UsageError } from './command.ts'
import { configOption, loadOrReport, requireConfigFile } from './config-file.ts'

/** Validates a configuration: `ok` on standard output, or every problem with its line and column on standard error. */
export const check: Command = {
  name: 'check',
  synopsis: '--config FILE [--json] [--strict [--grace TIME] [--allow RULE]…]',
  summary: 'says every problem in FILE with its line and column, or ok; --strict: also what will hurt in production',
  run: async args => {
    const options = parseOptions(args, optionTypes)
    const file = requireConfigFile(options.config)
    if (options.strict) return reportStrictly(await examine(file, options), options.json ?? false)
    const stray = options.grace !== undefined ? '--grace' : options.allow && '--allow'
    if (stray) throw new UsageError(`${stray} is for --strict`)
    return options.json ? checkForMachines(file) : checkForPeople(file)
  },
}

const optionTypes = {
  ...configOption,
  json: { type: 'boolean' },
  strict: { type: 'boolean' },
  grace: { type: 'string' },
  allow: { type: 'string', multiple: true },
} as const

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

interface StrictOptions {
  readonly grace?: string | undefined
  readonly allow?: readonly string[] | undefined
}

const examine = (file: string, { grace = kubernetesGrace, allow = [] }: StrictOptions): Promise<ExaminedConfig> => {
  const graceMs = parseDurationMs(grace)
  if (graceMs === undefined) throw new UsageError('--grace takes a duration, such as 30s or 2m')
  const unknown = allow.find(rule => !warningRuleIds.includes(rule))
  if (unknown !== undefined) throw new UsageError(`--allow takes one of ${warningRuleIds.join(', ')}`)
  return examineConfig(file, process.env, { nowMs: systemClock.nowMs(), graceMs, allowed: allow })
}

/** `terminationGracePeriodSeconds` where a pod does not say it. */
const kubernetesGrace = '30s'

/** As without --strict, but a warning is as bad as a problem; in JSON they are `warnings`, with the `rule` of each. */
const reportStrictly = (examined: ExaminedConfig, isForMachines: boolean): number => {
  const problems = examined.ok ? [] : examined.problems
  const warnings = examined.ok ? examined.warnings : []
  const isOk = problems.length + warnings.length === 0
  if (isForMachines) printLine(JSON.stringify({ ok: isOk, problems, warnings }))
  else
    for (const line of isOk ? [] : [...problems.map(formatProblem), ...warnings.map(formatWarning)])
      printErrorLine(line)
  if (isOk && !isForMachines) printLine('ok')
  return isOk ? 0 : 1
}
