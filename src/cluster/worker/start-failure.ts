import { firstLineOf } from '../../errors.ts'
import type { WorkerMessage } from '../messages.ts'

/**
 * Tells the primary why this worker cannot serve, and exits 1. The primary reports it once, however many workers fail.
 */
export const endWithStartFailure = async (error: unknown): Promise<never> => {
  const message: WorkerMessage = { type: 'failed', reason: firstLineOf(error) }
  await new Promise<unknown>(resolve => {
    if (process.send) process.send(message, undefined, undefined, resolve)
    else resolve(undefined)
  })
  // Otherwise the channel to the primary would keep the process alive.
  return process.exit(1)
}
