import { type Command, parseOptions } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { printLine } from '../output.ts'
import { toTable } from '../table.ts'
import { type ListedClient, listClients } from './listed-clients.ts'

/** Prints the clients of a configuration and of its store, whether the gateway runs or not. */
export const clientList: Command = {
  name: 'client list',
  synopsis: '--config FILE [--json]',
  summary:
    'prints the clients of the configuration and of its store: plan, method, state and until when secrets are good',
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
