import type { Worker } from 'node:cluster'
import type { Logger } from '../../telemetry/logger.ts'
import { sendInParts } from '../ipc/config-codec.ts'
import type { PrimaryMessage, WorkerMessage } from '../messages.ts'
import { fork, type Preloaded } from './preload.ts'
import type { ListenHandle } from './reuseport-sockets.ts'

/** The name of a process, used for its metrics. No two processes of a run have the same name. */
export type WorkerName = string

/** One serving process, as the primary knows it. */
export interface WorkerProcess {
  readonly name: WorkerName
  readonly pid: number | undefined
  /** Whether the process has built its app, so that its start is over. */
  hasStarted(): boolean
  /** Why the process could not start or was killed; undefined if the primary does not know. */
  failure(): string | undefined
  tell(message: PrimaryMessage): void
  /** Sends a message together with the listening socket that it is about. */
  give(message: PrimaryMessage, handle: ListenHandle): void
  /** The process ends when its requests are finished; it is killed a second after the timeout. */
  retire(timeoutMs: number): void
  kill(): void
  /** Kills the process because it does not respond. @param reason for `failure` */
  timeOut(reason: string): void
  hasTimedOut(): boolean
}

/** A start takes a small part of this even on a busy machine, so a worker that takes longer hangs. */
export const defaultStartTimeoutMs = 60_000

/** How long after its timeout a worker that retires is killed, in milliseconds. */
const retireGraceMs = 1000

export interface WorkerEvents {
  readonly log: Logger
  /** If the process cannot serve after this time, it is killed. */
  readonly startTimeoutMs: number
  onMessage(message: WorkerMessage): void
  onExit(code: number | null, signal: string | null): void
  /** The process has exited, and all its messages have been read. */
  onGone(): void
}

/** @param preloaded a process that was forked before; if left out, a new one is forked */
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
    log.error({ event: 'worker_channel_failed', err: error }, 'a message to a worker could not be sent'),
  )
  worker.once('exit', events.onExit)
  // The last messages of a process may be read after its exit is known. Its channel disconnects when all of them have
  // been read.
  const ended = [new Promise(resolve => worker.once('exit', resolve)), new Promise(r => worker.once('disconnect', r))]
  Promise.all(ended).then(events.onGone)
  // These messages came first, so they are delivered before the next one is read.
  process.nextTick(() => {
    for (const message of preloaded?.received ?? []) worker.emit('message', message)
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
      const timer = setTimeout(() => worker.process.kill('SIGKILL'), timeoutMs + retireGraceMs).unref()
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

/** Kills a worker that has not sent `started` in time; `onOverdue` is called before that. */
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
