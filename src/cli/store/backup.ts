import { resolve } from 'node:path'
import { backUpStore } from '../../app/operator-store.ts'
import { type Command, parseOptions, UsageError } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { printLine } from '../output.ts'

/** Copies the embedded store of a configuration, whether the gateway runs or not. */
export const storeBackup: Command = {
  name: 'store backup',
  synopsis: '--config FILE --to BACKUP',
  summary: 'copies the embedded store to a new file, as a consistent snapshot, while the gateway runs',
  run: async args => {
    const options = parseOptions(args, { ...configOption, to: { type: 'string' } })
    if (!options.to) throw new UsageError('name the new file with --to BACKUP')
    const config = await loadOrReport(requireConfigFile(options.config))
    if (!config) return 1
    await backUpStore(config, options.to)
    printLine(`backed up to ${resolve(options.to)}, which contains the signing keys: keep it secret`)
    return 0
  },
}
