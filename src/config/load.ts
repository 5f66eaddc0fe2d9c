import { dirname, resolve } from 'node:path'
import { checkClients } from './checks/clients.ts'
import { checkFapiProfile } from './checks/fapi-profile.ts'
import { checkForwardAuth } from './checks/forward-auth.ts'
import { checkGroupings } from './checks/groupings.ts'
import { checkIdentity } from './checks/identity.ts'
import { checkListeners } from './checks/listeners.ts'
import { checkOperations } from './checks/operations.ts'
import { checkPlans } from './checks/plans.ts'
import { checkRoutes } from './checks/routes.ts'
import { checkScopes } from './checks/scopes.ts'
import { checkSigningKeys } from './checks/signing-keys.ts'
import { checkTopLevel } from './checks/top-level.ts'
import { checkUpstreams } from './checks/upstreams.ts'
import { checkUsers } from './checks/users.ts'
import { type ParsedConfig, parseConfig } from './parse/parsed-config.ts'
import { resolveConfig } from './resolve/resolve.ts'
import type { SidegateConfig } from './sidegate-config.ts'
import { type Fault, type Problem, pathText } from './source/diagnostic.ts'
import { substituteEnvironment } from './source/environment.ts'
import { parseSource } from './source/parse-source.ts'
import { type ReadText, readText, readValueFiles } from './source/secret-files.ts'
import { checkTlsFiles } from './source/tls-files.ts'
import type { YamlSource } from './source/yaml-source.ts'

export { type Operation, operationLabel } from '../gateway/operation.ts'
export { publishOperations } from '../gateway/routing/built-in-operations.ts'
export type { Plan } from '../plans/plan.ts'
export { configJsonSchema } from './schema/file.ts'
export type { SidegateConfig } from './sidegate-config.ts'
export { formatProblem, type Problem } from './source/diagnostic.ts'

export type LoadedConfig =
  | { readonly ok: true; readonly config: SidegateConfig }
  /** In the order of the file. No message repeats a secret. */
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** All checks between the parts of a file. A new check is one file and one line here. */
const crossChecks = [
  checkTopLevel,
  checkListeners,
  checkGroupings,
  checkIdentity,
  checkOperations,
  checkRoutes,
  checkForwardAuth,
  checkPlans,
  checkClients,
  checkUsers,
  checkUpstreams,
  checkScopes,
  checkSigningKeys,
  checkFapiProfile,
]

/**
 * Reads, completes and checks a configuration file. Never throws because of the content of the file, of a file that it
 * names, or of the environment: all problems are returned at once.
 * @param nowMs when the TLS certificates must be valid. Left out, as in a running Sidegate: an expired certificate is
 * not a problem, because its renewal may be late, and workers that cannot restart would make that worse
 * @param read reads the file and the files that it names for its values; left out: from the disk
 */
export const loadConfig = async (
  file: string,
  env: NodeJS.ProcessEnv,
  nowMs?: number,
  read: ReadText = readText,
): Promise<LoadedConfig> => {
  const parsed = await readParsedConfig(file, env, nowMs, read)
  return parsed.ok ? { ok: true, config: resolveConfig(parsed.parsed) } : parsed
}

export type ParsedConfigResult =
  | { readonly ok: true; readonly parsed: ParsedConfig; readonly source: YamlSource }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Does the same up to the parsed configuration, when every problem has been found. */
export const readParsedConfig = async (
  file: string,
  env: NodeJS.ProcessEnv,
  nowMs?: number,
  read: ReadText = readText,
): Promise<ParsedConfigResult> => {
  const text = await read(file).catch((error: NodeJS.ErrnoException) => error)
  if (text instanceof Error) return refuse([unreadable(file, text)])
  const source = parseSource(text)
  const syntaxProblems = source.syntaxFaults.map(({ position, message }) => ({ file, ...position, message }))
  if (!source.usable) return refuse(syntaxProblems)
  if (!isMapping(source.tree)) return refuse([{ file, line: 1, column: 1, message: notAMapping(source.tree) }])

  const { tree } = source
  const missing = substituteEnvironment(tree, env)
  const files = await readValueFiles(tree, dirname(file), read)
  for (const { path, filePath } of files.read) source.redirect(path, filePath)
  const before = [...missing, ...files.faults, ...(await checkTlsFiles(tree, dirname(file), nowMs))]
  const { parsed, faults } = parseConfig(tree, before)
  const crossFaults = crossChecks.flatMap(check => check(parsed))

  const problems = [...syntaxProblems, ...toProblems(file, source, [...before, ...faults, ...crossFaults])]
  return problems.length > 0 ? refuse(problems) : { ok: true, parsed, source }
}

const isMapping = (tree: unknown): boolean => typeof tree === 'object' && tree !== null && !Array.isArray(tree)

const notAMapping = (tree: unknown): string =>
  tree === undefined ? 'the file is empty; it needs at least groupings' : 'must be a mapping of keys to values'

const unreadable = (file: string, error: NodeJS.ErrnoException): Problem => {
  const absolute = resolve(file)
  const reason =
    error.code === 'ENOENT'
      ? `there is no file ${absolute}`
      : `${absolute} cannot be read (${error.code ?? error.name})`
  return { file, line: 1, column: 1, message: `${reason}; name the configuration with --config FILE` }
}

const toProblems = (file: string, source: YamlSource, faults: readonly Fault[]): readonly Problem[] =>
  faults.map(fault => ({ file, ...source.positionOf(fault), message: `${pathText(fault.path)}: ${fault.message}` }))

const refuse = (problems: readonly Problem[]): ParsedConfigResult & { readonly ok: false } => ({
  ok: false,
  problems: problems.toSorted((one, other) => one.line - other.line || one.column - other.column),
})
