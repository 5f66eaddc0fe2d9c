import cluster, { type Worker } from 'node:cluster'
import type { Logger } from '../telemetry/logger.ts'
import { sendInParts } from './config-parts.ts'
import { helperThreads } from './helper-threads.ts'
import type { ListenHandle } from './listeners.ts'
import { type PrimaryMessage, type WorkerMessage, workerEnvironment } from './messages.ts'
import { watchStart } from './start-watch.ts'

/** Names one process, for its metrics; no other one ever has the same. */
export type WorkerName = string

/** One serving process, as the primary knows it. */
export interface WorkerProcess {
  readonly name: WorkerName
  readonly pid: number | undefined
  /** Whether it has its app, and is there for more than its start. */
  hasStarted(): boolean
  /** Why it ends without having served, where that is known. */
  failure(): string | undefined
  tell(message: PrimaryMessage): void
  /** Tells it something that a listening socket belongs to. */
  give(message: PrimaryMessage, handle: ListenHandle): void
  /** Has it end when it has finished what it began; in any case a second after the timeout. */
  retire(timeoutMs: number): void
  kill(): void
}

/** How long a worker that has not ended in time is waited for, in milliseconds. */
const lateMs = 1000

export interface WorkerEvents {
  readonly log: Logger
  /** How long it may take until it can serve; then it is ended. */
  readonly startTimeoutMs: number
  onMessage(message: WorkerMessage): void
  onExit(code: number | null, signal: string | null): void
  /** It has ended, and everything that it said has been heard. */
  onGone(): void
}

/**
 * Half of what Node takes for each of its spaces for young objects. Each request's buffers and parser are young and soon
 * gone: less of what is gone is kept, at no cost in time that could be measured.
 */
const youngHeapMiB = 8

/** Says how workers are started; to be called before the first one is. */
export const prepareForks = (): void =>
  cluster.setupPrimary({
    exec: process.argv[1] ?? '',
    args: ['worker'],
    execArgv: [
      ...process.execArgv,
      `--max-semi-space-size=${youngHeapMiB}`,
      `--v8-pool-size=${helperThreads}`,
      // Of `node:ffi`, which nothing depends on.
      '--disable-warning=ExperimentalWarning',
    ],
    serialization: 'json',
  })

export const forkWorker = (slot: number, events: WorkerEvents): WorkerProcess => {
  const { log, startTimeoutMs } = events
  const worker = cluster.fork({ [workerEnvironment.slot]: String(slot) })
  let hasStarted = false
  let failure: string | undefined

  watchStart(worker, startTimeoutMs, () => {
    failure = `it did not start within ${startTimeoutMs} ms`
  })
  worker.on('message', (message: WorkerMessage) => {
    if (message.type === 'started') hasStarted = true
    if (message.type === 'failed') failure = message.reason
    events.onMessage(message)
  })
  worker.on('error', error =>
    log.error({ event: 'worker_channel_failed', err: error }, 'a worker could not be told something'),
  )
  worker.once('exit', events.onExit)
  // What it said last may be read after its exit is known; its channel ends when all of it has been.
  const ended = [new Promise(resolve => worker.once('exit', resolve)), new Promise(r => worker.once('disconnect', r))]
  Promise.all(ended).then(events.onGone)

  return {
    name: `worker-${worker.id}`,
    pid: worker.process.pid,
    hasStarted: () => hasStarted,
    failure: () => failure,
    tell: message => sendInParts(message, part => send(worker, part, undefined)),
    give: (message, handle) => send(worker, message, handle),
    retire(timeoutMs) {
      send(worker, { type: 'retire', timeoutMs }, undefined)
      const timer = setTimeout(() => worker.process.kill('SIGKILL'), timeoutMs + lateMs).unref()
      worker.once('exit', () => clearTimeout(timer))
    },
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

const send = (worker: Worker, message: PrimaryMessage, handle: ListenHandle | undefined): void => {
  if (worker.isConnected()) worker.send(message, handle as never, () => undefined)
}
