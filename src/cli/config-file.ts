import { formatProblem, loadConfig, type SidegateConfig } from '../config/load.ts'
import { UsageError } from './command.ts'
import { printErrorLine } from './output.ts'

/** The option that names the configuration file. */
export const configOption = { config: { type: 'string' } } as const

/** The file that `--config` or SIDEGATE_CONFIG names, the option first. */
export const findConfigFile = (option: string | undefined): string | undefined =>
  option ?? (process.env.SIDEGATE_CONFIG || undefined)

/** @throws UsageError if no file is named */
export const requireConfigFile = (option: string | undefined): string => {
  const file = findConfigFile(option)
  if (!file) throw new UsageError('name the configuration with --config FILE or SIDEGATE_CONFIG')
  return file
}

/**
 * The configuration; undefined if it has problems, which are printed to standard error.
 * @param nowMs the time at which its certificates must be valid; if left out, they may be expired
 */
export const loadOrReport = async (file: string, nowMs?: number): Promise<SidegateConfig | undefined> => {
  const loaded = await loadConfig(file, process.env, nowMs)
  if (loaded.ok) return loaded.config
  for (const problem of loaded.problems) printErrorLine(formatProblem(problem))
  return undefined
}
