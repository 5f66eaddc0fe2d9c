import { restoreStore } from '../../app/operator-store.ts'
import { type Command, parseOptions, UsageError } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { printLine } from '../output.ts'

/** Replaces the embedded store of a configuration by a backup, while no gateway runs. */
export const storeRestore: Command = {
  name: 'store restore',
  synopsis: '--config FILE --from BACKUP',
  summary: 'puts a backup in the place of the embedded store, which no gateway may be using',
  run: async args => {
    const options = parseOptions(args, { ...configOption, from: { type: 'string' } })
    if (!options.from) throw new UsageError('name the backup with --from BACKUP')
    const config = await loadOrReport(requireConfigFile(options.config))
    if (!config) return 1
    const kept = await restoreStore(config, options.from)
    if (kept !== undefined) printLine(`what was there is kept as ${kept}`)
    printLine('restored; what was revoked since the backup was made is good again: revoke it again')
    return 0
  },
}
