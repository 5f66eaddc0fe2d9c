import { readParsedConfig } from '../load.ts'
import { type Problem, pathText } from '../source/diagnostic.ts'
import { parseSource } from '../source/parse-source.ts'
import { type ReadText, readText } from '../source/secret-files.ts'
import type { YamlSource } from '../source/yaml-source.ts'
import { warningRules } from './rules.ts'
import type { LintInput, Warning } from './warning.ts'

export { parseDurationMs } from '../values/units.ts'

/** A warning with its position, and the rule that produced it. */
export interface PlacedWarning extends Problem {
  readonly rule: string
}

/** The result for a configuration. */
export type LintedConfig =
  /** In the order of the file. No message repeats a secret. */
  | { readonly ok: true; readonly warnings: readonly PlacedWarning[] }
  /** The configuration has problems, so the rules were not applied. */
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** The options of a check. */
export interface LintOptions {
  /**
   * In milliseconds since 1970. Certificates and secrets that have expired by then, or will soon after, are reported.
   */
  readonly nowMs: number
  /** The time from SIGTERM to SIGKILL. */
  readonly graceMs: number
  /** Ids of rules to skip. */
  readonly allowed: readonly string[]
  /** Reads the file and the files that it names for its values. Left out: from the disk. */
  readonly read?: ReadText
}

/** The ids of all rules. */
export const warningRuleIds: readonly string[] = Object.keys(warningRules)

/**
 * Reads and checks a configuration file as `loadConfig` does, and returns warnings of settings that are harmful in
 * production.
 */
export const lintConfig = async (
  file: string,
  env: NodeJS.ProcessEnv,
  { nowMs, graceMs, allowed, read = readText }: LintOptions,
): Promise<LintedConfig> => {
  const text = read(file)
  const found = await readParsedConfig(file, env, nowMs, path => (path === file ? text : read(path)))
  if (!found.ok) return found
  const { parsed, source } = found
  const written = parseSource(await text).tree
  const input: LintInput = { parsed, written, env, graceMs, nowMs }
  const rules = Object.entries(warningRules).filter(([rule]) => !allowed.includes(rule))
  const warnings = await Promise.all(
    rules.map(async ([rule, find]) => (await find(input)).map(warning => place(file, source, rule, warning))),
  )
  return {
    ok: true,
    warnings: warnings.flat().toSorted((one, other) => one.line - other.line || one.column - other.column),
  }
}

const place = (file: string, source: YamlSource, rule: string, { path, message }: Warning): PlacedWarning => ({
  file,
  ...source.positionOf({ path, at: 'value' }),
  rule,
  message: path.length === 0 ? message : `${pathText(path)}: ${message}`,
})

/** One line in the form of a problem, followed by the rule's id. */
export const formatWarning = ({ file, line, column, message, rule }: PlacedWarning): string =>
  `${file}:${line}:${column}: warning: ${message} [${rule}]`
