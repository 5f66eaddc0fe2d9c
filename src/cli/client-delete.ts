import { systemClock } from '../clock.ts'
import { cutOff } from '../oauth/tokens/cut-off.ts'
import { changeClient, quoted } from './client-store.ts'
import { type Command, parseNamed, printLine } from './command.ts'
import { configOption, loadOrReport, requireConfigFile } from './config-file.ts'
import { withOperatedStore } from './operated-store.ts'

/** Forgets a client of the store. What was issued to it is revoked, so that nothing of it is good for a later client of its name. */
export const clientDelete: Command = {
  name: 'client delete',
  synopsis: 'CLIENT_ID --config FILE',
  summary: 'takes a client out of the store, and revokes all that was issued to it',
  run: async args => {
    const { name: client_id, options } = parseNamed(args, configOption, 'CLIENT_ID')
    const config = await loadOrReport(requireConfigFile(options.config))
    if (!config) return 1
    const isConfigured = config.oauth.clients.has(client_id)
    await withOperatedStore(config, 'the clients', async store => {
      await changeClient(store.clients, client_id, known => {
        if (known?.members === undefined) throw new Error(absence(client_id, isConfigured))
        return known.disabled && isConfigured ? { disabled: true } : undefined
      })
      // Of two clients of one name the configuration's is served, and so the tokens are its own.
      if (!isConfigured) await cutOff(store.cutoffs, systemClock, { client_id }, config.oauth)
    })
    printLine(`${client_id} is deleted from the store${isConfigured ? '' : ', and what was issued to it revoked'}`)
    return 0
  },
}

const absence = (client_id: string, isConfigured: boolean): string =>
  isConfigured
    ? `${quoted(client_id)} is a client of the configuration; take it out there, or disable it`
    : `the store has no client ${quoted(client_id)}`
