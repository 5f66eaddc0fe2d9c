import { copyEmbeddedStore, parseStoreAddress, type StoreAddress } from '../../app/operator-store.ts'
import { type Command, parseOptions, UsageError } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { printLine } from '../output.ts'
import { toTable } from '../table.ts'

/** Copies an embedded store into a Redis, before a gateway serves from it. */
export const storeCopy: Command = {
  name: 'store copy',
  synopsis: '--from sqlite:FILE {--to redis://… | --config FILE} [--json]',
  summary:
    'copies an embedded store that no gateway uses into an empty Redis: the one of --to, or of the configuration',
  run: async args => {
    const texts = { from: { type: 'string' }, to: { type: 'string' } } as const
    const options = parseOptions(args, { ...configOption, ...texts, json: { type: 'boolean' } })
    if (options.to !== undefined && options.config !== undefined)
      throw new UsageError('name the Redis with --to or with --config, not with both')
    const from = parseAddress('--from', options.from)
    const to = options.to === undefined ? await findConfigured(options.config) : parseAddress('--to', options.to)
    if (!to) return 1
    const counts = await copyEmbeddedStore(from, to)
    const rows = Object.entries(counts).map(([kind, count]) => [textOfKind(kind), String(count)])
    for (const line of options.json ? [JSON.stringify(counts)] : toTable([['KIND', 'COPIED'], ...rows])) printLine(line)
    return 0
  },
}

/** A client of the configuration that was disabled, and a client that was deleted, have a record too. */
const textOfKind = (kind: string): string =>
  kind === 'clients' ? 'clients, including disabled and deleted ones' : kind

const parseAddress = (option: string, text: string | undefined): StoreAddress => {
  if (text === undefined) throw new UsageError(`name a store with ${option}`)
  const address = parseStoreAddress(text)
  if ('problem' in address) throw new UsageError(`${option}: ${address.problem}`)
  return address
}

/** A password in a configuration file does not appear in the list of processes. */
const findConfigured = async (file: string | undefined): Promise<StoreAddress | undefined> =>
  (await loadOrReport(requireConfigFile(file)))?.store
