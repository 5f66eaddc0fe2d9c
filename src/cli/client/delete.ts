import { systemClock } from '../../clock.ts'
import type { SidegateConfig } from '../../config/load.ts'
import { setNotBefore } from '../../oauth/tokens/not-before.ts'
import type { ClientStore } from '../../stores/ports/clients.ts'
import type { Store } from '../../stores/ports/store.ts'
import { type Command, parseNamed, requireIdentifier } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { withOperatedStore } from '../operator-store.ts'
import { printLine } from '../output.ts'
import { changeClient, membersOf, quoted } from './store.ts'

/**
 * Deletes a client from the store. Everything that was issued to it is revoked, so that a later client with the same id
 * cannot use it.
 */
export const clientDelete: Command = {
  name: 'client delete',
  synopsis: 'CLIENT_ID --config FILE',
  summary: 'deletes a client from the store, and revokes everything that was issued to it',
  run: async args => {
    const { name, options } = parseNamed(args, configOption, 'CLIENT_ID')
    const client_id = requireIdentifier('CLIENT_ID', name)
    const config = await loadOrReport(requireConfigFile(options.config))
    if (!config) return 1
    const isConfigured = config.oauth.clients.has(client_id)
    const done = await withOperatedStore(config, 'the clients', store =>
      isConfigured ? uncover(store.clients, client_id) : end(store, client_id, config),
    )
    printLine(done)
    return 0
  },
}

/**
 * If the configuration has a client of this id too, that client is served: the tokens, and the fact that it is
 * disabled, belong to it.
 */
const uncover = async (clients: ClientStore, client_id: string): Promise<string> => {
  await changeClient(clients, client_id, known => {
    if (known?.members === undefined)
      throw new Error(`${quoted(client_id)} is a client of the configuration; remove it there, or disable it`)
    return known.disabled ? { disabled: true } : undefined
  })
  return `${client_id} is deleted from the store`
}

/**
 * First disables the client, so that nothing more is issued to it, and then revokes everything that was issued. If a
 * step fails, the same command continues there. If the client has been deleted already, everything that was issued to
 * it is revoked again.
 */
const end = async ({ clients, cutoffs }: Store, client_id: string, config: SidegateConfig): Promise<string> => {
  const isThere = (await clients.find(client_id))?.members !== undefined
  if (isThere) await changeClient(clients, client_id, known => known && { ...membersOf(known), disabled: true })
  await setNotBefore(cutoffs, systemClock, { client_id }, config.oauth)
  await changeClient(clients, client_id, known => {
    if (known && !known.disabled)
      throw new Error(`another process has just changed ${quoted(client_id)}; check it, and try again`)
    // A record which disables an unknown client was made for the case that the client comes back.
    return known && known.members === undefined ? { disabled: true } : undefined
  })
  return isThere
    ? `${client_id} is deleted from the store, and everything that was issued to it is revoked`
    : `the store has no client ${quoted(client_id)}; everything that was issued to a client with this id is revoked anyway`
}
