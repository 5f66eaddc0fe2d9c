import type { SidegateConfig } from '../../config/load.ts'
import { createStoredClientReader } from '../../config/stored-client.ts'
import type { ClientRegistration } from '../../oauth/clients/metadata.ts'
import { parseMembers } from '../../oauth/clients/stored-clients.ts'
import type { ClientRecord, ClientStore } from '../../stores/ports/clients.ts'
import { type Command, parseOptions } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { isUnmade } from '../operator-store.ts'
import { printLine } from '../output.ts'
import { toTable } from '../table.ts'
import { withClientStore } from './store.ts'

/** Prints the clients of a configuration and of its store, whether the gateway runs or not. */
export const clientList: Command = {
  name: 'client list',
  synopsis: '--config FILE [--json]',
  summary: 'prints the clients of the configuration and of its store: plan, method, state, and expiry of the secrets',
  run: async args => {
    const options = parseOptions(args, { ...configOption, json: { type: 'boolean' } })
    const config = await loadOrReport(requireConfigFile(options.config))
    if (!config) return 1
    const clients = await listClients(config)
    const toLines = () =>
      toTable([headings, ...clients.map(toRow)], process.stdout.isTTY ? process.stdout.columns : undefined)
    for (const line of options.json ? [JSON.stringify({ clients })] : toLines()) printLine(line)
    return 0
  },
}

const headings = ['ID', 'NAME', 'IN', 'STATE', 'PLAN', 'METHOD', 'SECRETS GOOD UNTIL']

const toRow = (client: ListedClient): readonly string[] => [
  client.client_id,
  client.client_name ?? '-',
  client.in,
  client.reason === undefined ? client.state : `${client.state} (${client.reason})`,
  client.plan ?? '-',
  client.token_endpoint_auth_method ?? '-',
  client.secrets?.map(({ until }) => until ?? 'no end').join(', ') || '-',
]

/** One client, as printed by `--json`. Members have the names of the configuration. */
export interface ListedClient {
  readonly client_id: string
  /**
   * `nowhere`: the store has a record that disables the client, but the client exists neither there nor in the
   * configuration.
   */
  readonly in: 'configuration' | 'store' | 'nowhere'
  /** `shadowed`: the configuration has a client with the same id, which is served instead. */
  readonly state: 'served' | 'disabled' | 'invalid' | 'shadowed'
  /** Why the client is invalid. */
  readonly reason?: string
  readonly client_name?: string
  readonly plan?: string
  readonly grant_types?: readonly string[]
  /** Separated by spaces. */
  readonly scope?: string
  readonly token_endpoint_auth_method?: string
  readonly secrets?: readonly { readonly until?: string }[]
}

/**
 * All clients of a configuration and of its store, those of the configuration first. If an embedded store does not
 * exist yet, only those of the configuration.
 * @throws Error as `withOperatedStore` does
 */
export const listClients = async (config: SidegateConfig): Promise<readonly ListedClient[]> => {
  const records = isUnmade(config.store)
    ? new Map<string, ClientRecord>()
    : await withClientStore(config, readAll, 'read')
  const listStored = createStoredListing(config)
  return [
    ...[...config.oauth.clients].map(client => listConfigured(client, records)),
    ...[...records].flatMap(([client_id, record]) => listStored(client_id, record) ?? []),
  ]
}

type Records = ReadonlyMap<string, ClientRecord>

const readAll = async (clients: ClientStore): Promise<Records> => {
  const records = new Map<string, ClientRecord>()
  await clients.since(undefined, part => {
    for (const { client_id, record } of part) if (record) records.set(client_id, record)
  })
  return records
}

const listConfigured = (client: ClientRegistration, records: Records): ListedClient => ({
  client_id: client.client_id,
  in: 'configuration',
  state: records.get(client.client_id)?.disabled ? 'disabled' : 'served',
  ...describe(client),
})

const createStoredListing = (config: SidegateConfig) => {
  const reader = createStoredClientReader(config)
  return (client_id: string, { members, disabled }: ClientRecord): ListedClient | undefined => {
    const isConfigured = config.oauth.clients.has(client_id)
    if (members === undefined) return isConfigured ? undefined : { client_id, in: 'nowhere', state: 'disabled' }
    const read = reader.read(client_id, parseMembers(members))
    if (typeof read === 'string') return { client_id, in: 'store', state: 'invalid', reason: read }
    const served = disabled ? 'disabled' : 'served'
    return { client_id, in: 'store', state: isConfigured ? 'shadowed' : served, ...describe(read) }
  }
}

const describe = (client: ClientRegistration) => ({
  client_name: client.client_name,
  plan: client.plan,
  grant_types: client.grant_types,
  scope: client.scope.join(' '),
  token_endpoint_auth_method: client.token_endpoint_auth_method,
  secrets: client.secrets.map(({ untilMs }) =>
    untilMs === undefined ? {} : { until: new Date(untilMs).toISOString() },
  ),
})
