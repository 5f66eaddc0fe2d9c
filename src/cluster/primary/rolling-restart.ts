import { firstLineOf } from '../../errors.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Workers } from '../supervisor/worker-pool.ts'

export interface ReplacementOptions {
  /** Resolves when all workers serve: until then whoever asks waits. */
  readonly ready: Promise<void>
  /** Why no worker can be replaced, for a person; undefined where they can. */
  readonly obstacle: string | undefined
}

/** Puts new workers in the place of all at SIGUSR2, until closed. Who asks again meanwhile gets another round. */
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
      log.error({ event: 'replacement_failed', reason: firstLineOf(error) }, 'the workers were not all replaced')
    }
  }
  const onSignal = (): void => {
    underWay = underWay.then(replace)
  }
  process.on('SIGUSR2', onSignal)
  return { close: () => void process.off('SIGUSR2', onSignal) }
}
