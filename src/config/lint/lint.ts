import { readParsedConfig } from '../load.ts'
import { type Problem, pathText } from '../source/diagnostic.ts'
import { parseSource } from '../source/parse-source.ts'
import { type ReadText, readText } from '../source/secret-files.ts'
import type { YamlSource } from '../source/yaml-source.ts'
import { warningRules } from './rules.ts'
import type { LintInput, Warning } from './warning.ts'

export { parseDurationMs } from '../values/units.ts'

/** A warning with its place, and the rule that it comes from. */
export interface PlacedWarning extends Problem {
  readonly rule: string
}

/** What was found in a configuration. */
export type LintedConfig =
  /** In the order of the file. No message repeats a secret. */
  | { readonly ok: true; readonly warnings: readonly PlacedWarning[] }
  /** There is something wrong with it, so that nobody looked further. */
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** What a configuration is held to. */
export interface LintOptions {
  /** In milliseconds since 1970: what has ended by then, or ends soon after. */
  readonly nowMs: number
  /** How long the process has from SIGTERM to SIGKILL. */
  readonly graceMs: number
  /** Rules that do not hold here. */
  readonly allowed: readonly string[]
  /** Reads the file and those that it names for its values. Left out: from the disk. */
  readonly read?: ReadText
}

/** The ids of all rules. */
export const warningRuleIds: readonly string[] = Object.keys(warningRules)

/** Reads and checks a configuration file as `loadConfig` does, and says what of it will hurt in production. */
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

/** One line: the problem's form, and the rule behind it. */
export const formatWarning = ({ file, line, column, message, rule }: PlacedWarning): string =>
  `${file}:${line}:${column}: warning: ${message} [${rule}]`
