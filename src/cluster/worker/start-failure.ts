import type { WorkerMessage } from '../messages.ts'

/** What went wrong, in one line for a person. */
export const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''

/** A worker's last words where it cannot serve: the primary says them, so that many workers say them once. It exits 1. */
export const endWithStartFailure = async (error: unknown): Promise<never> => {
  const message: WorkerMessage = { type: 'failed', reason: reasonOf(error) }
  await new Promise<unknown>(resolve => {
    if (process.send) process.send(message, undefined, undefined, resolve)
    else resolve(undefined)
  })
  // The channel to the primary would keep the process alive.
  return process.exit(1)
}
