import type { Command } from './command.ts'
import { loadOrReport } from './config-file.ts'

/** One serving process. The primary forks it; nobody calls it by hand. */
export const worker: Command = {
  name: 'worker',
  synopsis: '',
  summary: 'one serving process, forked by serve',
  hidden: true,
  run: async () => {
    const { workerEnvironment } = await import('../cluster/messages.ts')
    const config = await loadOrReport(process.env[workerEnvironment.configFile] ?? '')
    // The channel to the primary keeps a process alive; without a configuration there is nothing to live for.
    if (!config) return process.exit(1)
    const { runWorker } = await import('../cluster/worker.ts')
    await runWorker(config)
    return 0
  },
}
