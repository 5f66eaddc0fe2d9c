import type { Command } from '../command.ts'
import { parseOptions } from '../command.ts'
import { configOption, requireConfigFile } from '../config-file.ts'
import { printErrorLine } from '../output.ts'

/** Serves one configuration until it is told to stop. */
export const serve: Command = {
  name: 'serve',
  synopsis: '--config FILE',
  summary: 'serves FILE (or what SIDEGATE_CONFIG names)',
  run: args => serveFile(requireConfigFile(parseOptions(args, configOption).config), { demo: false }),
}

/** Resolves to the exit code when everything has drained, or at once where the configuration is bad. */
export const serveFile = async (configFile: string, { demo }: { readonly demo: boolean }): Promise<number> => {
  const { preloadWorker } = await import('../../cluster/supervisor/preload.ts')
  using preloaded = preloadWorker()
  // What reads a configuration takes as long to load as a worker: that one goes first.
  const { createConfigSource } = await import('../config-source.ts')
  const source = createConfigSource(configFile)
  const loaded = await source.load()
  if (!loaded.ok) {
    for (const problem of loaded.problems) printErrorLine(problem)
    return 1
  }
  // Only here: no other command needs what the cluster loads.
  const { runCluster } = await import('../../cluster/primary/primary.ts')
  return await runCluster(loaded.config, { source, demo, preloaded })
}
