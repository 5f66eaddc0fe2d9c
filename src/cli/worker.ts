import type { Command } from './command.ts'
import { loadOrReport } from './config-file.ts'

/** One serving process. The primary forks it; nobody calls it by hand. */
export const worker: Command = {
  name: 'worker',
  synopsis: '',
  summary: 'one serving process, forked by serve',
  hidden: true,
  run: async () => {
    const [{ workerEnvironment }, { endWithStartFailure }] = await Promise.all([
      import('../cluster/messages.ts'),
      import('../cluster/start-failure.ts'),
    ])
    const config = await loadOrReport(process.env[workerEnvironment.configFile] ?? '')
    try {
      if (!config) throw new Error('the configuration is refused')
      const { runWorker } = await import('../cluster/worker.ts')
      await runWorker(config)
      return 0
    } catch (error) {
      return await endWithStartFailure(error)
    }
  },
}
