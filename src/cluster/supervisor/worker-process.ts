import type { Worker } from 'node:cluster'
import type { Logger } from '../../telemetry/logger.ts'
import { sendInParts } from '../ipc/config-codec.ts'
import type { PrimaryMessage, WorkerMessage } from '../messages.ts'
import { fork, type Preloaded } from './preload.ts'
import type { ListenHandle } from './reuseport-sockets.ts'

/** Names one process, for its metrics; no other one ever has the same. */
export type WorkerName = string

/** One serving process, as the primary knows it. */
export interface WorkerProcess {
  readonly name: WorkerName
  readonly pid: number | undefined
  /** Whether it has its app, and is there for more than its start. */
  hasStarted(): boolean
  /** Why it could not start or was killed, if that is known. */
  failure(): string | undefined
  tell(message: PrimaryMessage): void
  /** Tells it something that a listening socket belongs to. */
  give(message: PrimaryMessage, handle: ListenHandle): void
  /** Has it end when it has finished what it began; in any case a second after the timeout. */
  retire(timeoutMs: number): void
  kill(): void
  /** Kills it because it does not respond. @param reason for `failure` */
  timeOut(reason: string): void
  hasTimedOut(): boolean
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

/** @param preloaded a process that was started before; left out: a new one is */
export const forkWorker = (slot: number, events: WorkerEvents, preloaded?: Preloaded): WorkerProcess => {
  const { log, startTimeoutMs } = events
  const worker = preloaded?.worker ?? fork(slot)
  let hasStarted = false
  let hasTimedOut = false
  let failure: string | undefined

  watchStartup(worker, startTimeoutMs, () => {
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
  // Before what it says next is read.
  process.nextTick(() => {
    for (const message of preloaded?.said ?? []) worker.emit('message', message)
  })

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
    timeOut(reason) {
      hasTimedOut = true
      failure = reason
      worker.process.kill('SIGKILL')
    },
    hasTimedOut: () => hasTimedOut,
  }
}

const send = (worker: Worker, message: PrimaryMessage, handle: ListenHandle | undefined): void => {
  if (worker.isConnected()) worker.send(message, handle as never, () => undefined)
}

/** Many times what a start takes on a busy machine: a worker that takes longer hangs. */
export const defaultStartTimeoutMs = 60_000

/** Ends a worker that has not said in time that it can serve; `onOverdue` is told first. */
const watchStartup = (worker: Worker, timeoutMs: number, onOverdue: () => void): void => {
  const timer = setTimeout(() => {
    onOverdue()
    worker.process.kill('SIGKILL')
  }, timeoutMs)
  worker.on('message', (message: WorkerMessage) => {
    if (message.type === 'started') clearTimeout(timer)
  })
  worker.once('exit', () => clearTimeout(timer))
}
