import { restoreStore } from '../../app/operator-store.ts'
import { type Command, parseOptions, UsageError } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { printLine } from '../output.ts'

/** Replaces the embedded store of a configuration by a backup, while no gateway runs. */
export const storeRestore: Command = {
  name: 'store restore',
  synopsis: '--config FILE --from BACKUP',
  summary: 'replaces the embedded store, which no gateway may be using, by a backup',
  run: async args => {
    const options = parseOptions(args, { ...configOption, from: { type: 'string' } })
    if (!options.from) throw new UsageError('name the backup with --from BACKUP')
    const config = await loadOrReport(requireConfigFile(options.config))
    if (!config) return 1
    const kept = await restoreStore(config, options.from)
    if (kept !== undefined) printLine(`the store before is kept as ${kept}`)
    printLine('restored; tokens that were revoked after the backup are valid again: revoke them again')
    return 0
  },
}
