import type { SidegateConfig } from '../../config/load.ts'
import type { ClientRecord, KnownClient } from '../../stores/ports/clients.ts'
import { type Command, parseNamed } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { printLine } from '../output.ts'
import { changeClient, membersOf, unknownClient, withClientStore } from './store.ts'

/** Disables a client, also one of the configuration: the store has a record that it is disabled. */
export const clientDisable: Command = {
  name: 'client disable',
  synopsis: 'CLIENT_ID --config FILE',
  summary: 'disables a client within a second, until it is enabled again',
  run: args =>
    turn(
      args,
      client_id => `${client_id} is disabled`,
      (known, isConfigured) => {
        if (!known && !isConfigured) return 'unknown'
        return { ...membersOf(known), disabled: true }
      },
    ),
}

/** Enables a client: its tokens that have not expired are valid again. */
export const clientEnable: Command = {
  name: 'client enable',
  synopsis: 'CLIENT_ID --config FILE',
  summary: 'enables a disabled client; its tokens that have not expired are valid again',
  run: args =>
    turn(
      args,
      client_id => `${client_id} is enabled`,
      (known, isConfigured) => {
        if (!known && !isConfigured) return 'unknown'
        return known?.members === undefined ? undefined : { ...membersOf(known), disabled: false }
      },
    ),
}

type Turn = (known: KnownClient | undefined, isConfigured: boolean) => ClientRecord | undefined | 'unknown'

const turn = async (
  args: readonly string[],
  toSentence: (client_id: string) => string,
  decide: Turn,
): Promise<number> => {
  const { name: client_id, options } = parseNamed(args, configOption, 'CLIENT_ID')
  const config = await loadOrReport(requireConfigFile(options.config))
  if (!config) return 1
  await turnClient(config, client_id, decide)
  printLine(toSentence(client_id))
  return 0
}

const turnClient = (config: SidegateConfig, client_id: string, decide: Turn): Promise<void> =>
  withClientStore(config, clients =>
    changeClient(clients, client_id, known => {
      const record = decide(known, config.oauth.clients.has(client_id))
      if (record === 'unknown') throw unknownClient(client_id)
      return record
    }),
  )
