import { formatProblem, loadConfig, type SidegateConfig } from '../config/load.ts'
import { UsageError } from './command.ts'
import { printErrorLine } from './output.ts'

/** The option that names the configuration. */
export const configOption = { config: { type: 'string' } } as const

/** The file that `--config` or SIDEGATE_CONFIG names, the option first. */
export const findConfigFile = (option: string | undefined): string | undefined =>
  option ?? (process.env.SIDEGATE_CONFIG || undefined)

/** @throws UsageError where nobody named a file */
export const requireConfigFile = (option: string | undefined): string => {
  const file = findConfigFile(option)
  if (!file) throw new UsageError('name the configuration with --config FILE or SIDEGATE_CONFIG')
  return file
}

/**
 * The configuration, or undefined after every problem in it was printed to standard error.
 * @param nowMs when its certificates must be good; left out: they may be out of time
 */
export const loadOrReport = async (file: string, nowMs?: number): Promise<SidegateConfig | undefined> => {
  const loaded = await loadConfig(file, process.env, nowMs)
  if (loaded.ok) return loaded.config
  for (const problem of loaded.problems) printErrorLine(formatProblem(problem))
  return undefined
}
