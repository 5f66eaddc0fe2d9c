import type { Worker } from 'node:cluster'
import type { WorkerMessage } from '../messages.ts'

/** Many times what a start takes on a busy machine: a worker that takes longer hangs. */
export const defaultStartTimeoutMs = 60_000

/** Ends a worker that has not said in time that it can serve; `onOverdue` is told first. */
export const watchStartup = (worker: Worker, timeoutMs: number, onOverdue: () => void): void => {
  const timer = setTimeout(() => {
    onOverdue()
    worker.process.kill('SIGKILL')
  }, timeoutMs)
  worker.on('message', (message: WorkerMessage) => {
    if (message.type === 'started') clearTimeout(timer)
  })
  worker.once('exit', () => clearTimeout(timer))
}
