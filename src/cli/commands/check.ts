import { findEviction } from '../../app/operator-store.ts'
import { systemClock } from '../../clock.ts'
import {
  formatWarning,
  type LintedConfig,
  lintConfig,
  type PlacedWarning,
  parseDurationMs,
  warningRuleIds,
} from '../../config/lint/lint.ts'
import { formatProblem, loadConfig } from '../../config/load.ts'
import { type ListedClient, listClients } from '../client/list.ts'
import { quoted } from '../client/store.ts'
import { type Command, parseOptions, UsageError } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { printErrorLine, printLine } from '../output.ts'

/** Validates a configuration: `ok` on standard output, or every problem with its line and column on standard error. */
export const check: Command = {
  name: 'check',
  synopsis: '--config FILE [--json] [--store] [--strict [--grace TIME] [--allow RULE]…]',
  summary:
    'prints every problem in FILE with its line and column, or ok; --strict: also settings that cause trouble in production; --store: also the clients of the store that do not fit, and whether its Redis may evict keys',
  run: async args => {
    const options = parseOptions(args, optionTypes)
    const file = requireConfigFile(options.config)
    const stray = options.grace !== undefined ? '--grace' : options.allow && '--allow'
    if (stray && !options.strict) throw new UsageError(`${stray} is for --strict`)
    const found = options.strict ? await examine(file, options) : await load(file)
    const stored = options.store && found.ok ? await lookIntoStore(file) : nothingStored
    return options.json ? reportForMachines(found, options, stored) : reportForPeople(found, file, stored)
  },
}

const optionTypes = {
  ...configOption,
  json: { type: 'boolean' },
  store: { type: 'boolean' },
  strict: { type: 'boolean' },
  grace: { type: 'string' },
  allow: { type: 'string', multiple: true },
} as const

/** The findings in the file; warnings with --strict only. */
type Found = { readonly ok: true; readonly warnings: readonly PlacedWarning[] } | Extract<LintedConfig, { ok: false }>

const load = async (file: string): Promise<Found> => {
  const loaded = await loadConfig(file, process.env, systemClock.nowMs())
  return loaded.ok ? { ok: true, warnings: [] } : loaded
}

interface StrictOptions {
  readonly grace?: string | undefined
  readonly allow?: readonly string[] | undefined
}

const examine = (file: string, { grace = kubernetesGrace, allow = [] }: StrictOptions): Promise<LintedConfig> => {
  const graceMs = parseDurationMs(grace)
  if (graceMs === undefined) throw new UsageError('--grace takes a duration, such as 30s or 2m')
  const unknown = allow.find(rule => !warningRuleIds.includes(rule))
  if (unknown !== undefined) throw new UsageError(`--allow takes one of ${warningRuleIds.join(', ')}`)
  return lintConfig(file, process.env, { nowMs: systemClock.nowMs(), graceMs, allowed: allow })
}

/** The default of `terminationGracePeriodSeconds`. */
const kubernetesGrace = '30s'

/** The findings in the store. */
interface Stored {
  /** Clients of the store that this configuration cannot serve, unless it has a client with the same id itself. */
  readonly invalid: readonly ListedClient[]
  /** The policies of a Redis that may evict keys. */
  readonly evicts: readonly string[]
}

const nothingStored: Stored = { invalid: [], evicts: [] }

const lookIntoStore = async (file: string): Promise<Stored> => {
  const config = await loadOrReport(file)
  if (!config) return nothingStored
  const clients = await listClients(config)
  return {
    invalid: clients.filter(({ client_id, state }) => state === 'invalid' && !config.oauth.clients.has(client_id)),
    evicts: (await findEviction(config)) ?? [],
  }
}

/** A warning makes the check fail like a problem does, and so does a client that does not fit. */
const reportForPeople = (found: Found, file: string, { invalid, evicts }: Stored): number => {
  const lines = [
    ...(found.ok ? found.warnings.map(formatWarning) : found.problems.map(formatProblem)),
    ...invalid.map(({ client_id, reason }) => `${file}: ${quoted(client_id)} of the store does not fit: ${reason}`),
    ...evicts.map(
      policy =>
        `${file}: the Redis of the store has maxmemory-policy ${policy} and may evict keys; set it to noeviction`,
    ),
  ]
  for (const line of lines) printErrorLine(line)
  if (lines.length > 0) return 1
  printLine('ok')
  return 0
}

/**
 * One JSON object on standard output: `ok`, and `problems` with `file`, `line`, `column` and `message` each; `warnings`
 * likewise, with the `rule` of each; `invalid` with `client_id` and `reason`; `evicts`, the policies of a Redis that
 * may evict keys.
 */
const reportForMachines = (
  found: Found,
  { strict, store }: { readonly strict?: boolean | undefined; readonly store?: boolean | undefined },
  stored: Stored,
): number => {
  const problems = found.ok ? [] : found.problems
  const warnings = found.ok ? found.warnings : []
  const { evicts } = stored
  const invalid = stored.invalid.map(({ client_id, reason }) => ({ client_id, reason }))
  const ok = problems.length + warnings.length + invalid.length + evicts.length === 0
  printLine(JSON.stringify({ ok, problems, ...(strict && { warnings }), ...(store && { invalid, evicts }) }))
  return ok ? 0 : 1
}
