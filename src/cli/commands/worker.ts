import { endWithStartFailure } from '../../cluster/worker/start-failure.ts'
import type { Command } from '../command.ts'

/** One serving process. The primary forks it; it is not meant to be called by hand. */
export const worker: Command = {
  name: 'worker',
  synopsis: '',
  summary: 'runs one serving process; forked by serve',
  hidden: true,
  run: async () => {
    try {
      const { runWorker } = await import('../../cluster/worker/worker.ts')
      await runWorker()
      return 0
    } catch (error) {
      return await endWithStartFailure(error)
    }
  },
}
