import { systemClock } from '../../clock.ts'
import type { SidegateConfig } from '../../config/load.ts'
import { type ListedKey, listOperatorKeys, listStoredKeys } from '../../oauth/keys/list-keys.ts'
import { type Command, parseOptions } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { withKeyStore } from '../operator-store.ts'
import { printLine } from '../output.ts'
import { toTable } from '../table.ts'

/** Prints the signing keys of a configuration's store, or of its own JWK set, whether the gateway runs or not. */
export const keysList: Command = {
  name: 'keys list',
  synopsis: '--config FILE [--json]',
  summary: 'prints the signing keys: their state, and since when and until when they have it',
  run: async args => {
    const options = parseOptions(args, { ...configOption, json: { type: 'boolean' } })
    const config = await loadOrReport(requireConfigFile(options.config))
    if (!config) return 1
    const keys = await findKeys(config)
    for (const line of options.json ? [toJson(keys)] : toTable([headings, ...keys.map(toRow)])) printLine(line)
    return 0
  },
}

const findKeys = (config: SidegateConfig): Promise<readonly ListedKey[]> => {
  const { jwks } = config.oauth.keys
  if (jwks) return listOperatorKeys(jwks, config.oauth)
  return withKeyStore(config, keys => listStoredKeys(keys, systemClock.nowMs(), config.oauth), 'read')
}

const headings = ['KID', 'ALG', 'STATE', 'CREATED', 'ACTIVE FROM', 'PUBLISHED UNTIL']

const toRow = (key: ListedKey): readonly string[] => [
  key.kid,
  key.alg,
  key.state,
  ...[key.createdAtMs, key.activeAtMs, key.publishedUntilMs].map(atMs => toInstant(atMs) ?? '-'),
]

/** One JSON object on standard output: `keys`, with times in ISO 8601. */
const toJson = (keys: readonly ListedKey[]): string =>
  JSON.stringify({
    keys: keys.map(({ kid, alg, state, ...instants }) => ({
      kid,
      alg,
      state,
      created: toInstant(instants.createdAtMs),
      activeFrom: toInstant(instants.activeAtMs),
      publishedUntil: toInstant(instants.publishedUntilMs),
    })),
  })

const toInstant = (atMs: number | undefined): string | undefined =>
  atMs === undefined ? undefined : new Date(atMs).toISOString()
