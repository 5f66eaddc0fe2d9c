import type { Command } from '../command.ts'
import { parseOptions } from '../command.ts'
import { configOption, requireConfigFile } from '../config-file.ts'
import { printErrorLine } from '../output.ts'

/** Serves one configuration until it is stopped. */
export const serve: Command = {
  name: 'serve',
  synopsis: '--config FILE',
  summary: 'serves the configuration in FILE, or in the file that SIDEGATE_CONFIG names',
  run: args => serveFile(requireConfigFile(parseOptions(args, configOption).config), { demo: false }),
}

/** Resolves to the exit code after the drain, or at once if the configuration is not valid. */
export const serveFile = async (configFile: string, { demo }: { readonly demo: boolean }): Promise<number> => {
  const { preloadWorker } = await import('../../cluster/supervisor/preload.ts')
  using preloaded = preloadWorker()
  // The code that reads a configuration takes as long to load as a worker takes to start, so the worker is forked
  // first.
  const { createConfigSource } = await import('../config-source.ts')
  const source = createConfigSource(configFile)
  const loaded = await source.load()
  if (!loaded.ok) {
    for (const problem of loaded.problems) printErrorLine(problem)
    return 1
  }
  // Loaded only here, because no other command needs this code.
  const { runCluster } = await import('../../cluster/primary/primary.ts')
  return await runCluster(loaded.config, { source, demo, preloaded })
}
