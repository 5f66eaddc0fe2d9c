import type { Command } from './command.ts'
import { parseOptions } from './command.ts'
import { configOption, loadOrReport, requireConfigFile } from './config-file.ts'

/** Serves one configuration until it is told to stop. */
export const serve: Command = {
  name: 'serve',
  synopsis: '--config FILE',
  summary: 'serves FILE (or what SIDEGATE_CONFIG names)',
  run: args => serveFile(requireConfigFile(parseOptions(args, configOption).config), { demo: false }),
}

/** Resolves to the exit code when everything has drained, or at once where the configuration is bad. */
export const serveFile = async (configFile: string, { demo }: { readonly demo: boolean }): Promise<number> => {
  const config = await loadOrReport(configFile)
  if (!config) return 1
  // Only here: no other command needs what the cluster loads.
  const { runCluster } = await import('../cluster/run.ts')
  return runCluster(config, { demo })
}
