import { firstLineOf } from '../../errors.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Workers } from '../supervisor/worker-pool.ts'

export interface ReplacementOptions {
  /** Resolves when all workers serve; a replacement waits for it. */
  readonly ready: Promise<void>
  /** Why no worker can be replaced, for a person; undefined if they can. */
  readonly obstacle: string | undefined
}

/** Replaces all workers at SIGUSR2, until closed. A signal during a replacement starts another round after it. */
export const replaceOnSignal = (
  workers: Pick<Workers, 'replaceAll'>,
  log: Logger,
  { ready, obstacle }: ReplacementOptions,
): { close(): void } => {
  let underWay = ready
  const replace = async (): Promise<void> => {
    try {
      if (obstacle !== undefined) throw new Error(obstacle)
      await workers.replaceAll()
      log.info({ event: 'workers_replaced' }, 'every worker was replaced')
    } catch (error) {
      log.error({ event: 'rolling_restart_failed', reason: firstLineOf(error) }, 'the workers were not all replaced')
    }
  }
  const onSignal = (): void => {
    underWay = underWay.then(replace)
  }
  process.on('SIGUSR2', onSignal)
  return { close: () => void process.off('SIGUSR2', onSignal) }
}
