import cluster, { type Worker } from 'node:cluster'
import type { Logger } from '../telemetry/logger.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import type { Listeners } from './listeners.ts'
import { type PrimaryMessage, type WorkerMessage, workerEnvironment } from './messages.ts'

export interface WorkersOptions {
  readonly count: number
  readonly configFile: string
  readonly listeners: Listeners
  readonly log: Logger
  readonly recorder: Recorder
  /** What a worker says, other than about its listeners. */
  onMessage(worker: WorkerName, message: WorkerMessage, answer: (message: PrimaryMessage) => void): void
  /** A process has ended; its name never comes again. */
  onGone(worker: WorkerName): void
}

/** Names one process, for its metrics. */
export type WorkerName = string

/** The serving processes: one per slot, replaced when they die, their listeners lent to the others meanwhile. */
export interface Workers {
  /** Resolves when every slot has been served once; rejects if a worker cannot start at all. */
  readonly allListening: Promise<void>
  /** How many slots are served by their own worker now. */
  serving(): number
  /** Processes that are alive now, by name. */
  names(): readonly WorkerName[]
  tell(message: PrimaryMessage): void
  /** Ends all of them: at once, or when they are done. Resolves when the last has gone. */
  stop(): Promise<void>
  kill(): void
}

/** A worker that lived this long was healthy: its replacement starts at once. */
const healthyAfterMs = 10_000
const firstBackoffMs = 250
const maxBackoffMs = 10_000

interface Slot {
  readonly index: number
  worker: Worker | undefined
  startedAtMs: number
  /** Deaths in a row without a healthy life between. */
  deaths: number
  isServing: boolean
  /** Who accepts for it while it has no worker of its own. */
  lentTo: Slot | undefined
}

export const startWorkers = (options: WorkersOptions): Workers => {
  const { log, recorder, listeners } = options
  const serving = recorder.gauge('workers', [])
  const slots = Array.from({ length: options.count }, (_, index): Slot => {
    return { index, worker: undefined, startedAtMs: 0, deaths: 0, isServing: false, lentTo: undefined }
  })
  const ready = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  let stopping = false
  let everReady = false

  const fork = (slot: Slot): void => {
    const worker = cluster.fork({
      [workerEnvironment.configFile]: options.configFile,
      [workerEnvironment.slot]: String(slot.index),
    })
    slot.worker = worker
    slot.startedAtMs = performance.now()
    worker.on('message', (message: WorkerMessage) => onMessage(slot, worker, message))
    worker.on('error', error => log.error({ event: 'worker_channel_failed', err: error }))
    worker.once('exit', (code, signal) => onExit(slot, worker, code, signal))
  }

  const onMessage = (slot: Slot, worker: Worker, message: WorkerMessage): void => {
    if (message.type === 'started') giveListener(slot, worker)
    else if (message.type === 'listening') onListening(slot, message.slot)
    else options.onMessage(nameOf(worker), message, answer => tellOne(worker, answer))
  }

  const giveListener = (slot: Slot, to: Worker): void => {
    to.send({ type: 'listen', slot: slot.index }, listeners.handle(slot.index) as never, () => undefined)
  }

  const onListening = (slot: Slot, listeningSlot: number): void => {
    if (listeningSlot !== slot.index) return
    slot.isServing = true
    serving.set(count(slots))
    if (slot.lentTo?.worker) tellOne(slot.lentTo.worker, { type: 'release', slot: slot.index })
    slot.lentTo = undefined
    log.info({ event: 'worker_ready', worker_pid: slot.worker?.process.pid, slot: slot.index }, 'worker ready')
    if (!everReady && slots.every(one => one.isServing)) {
      everReady = true
      ready.resolve()
    }
  }

  const onExit = (slot: Slot, worker: Worker, code: number | null, signal: string | null): void => {
    slot.worker = undefined
    slot.isServing = false
    serving.set(count(slots))
    options.onGone(nameOf(worker))
    if (stopping) {
      if (slots.every(one => one.worker === undefined)) gone.resolve()
      return
    }
    if (!everReady) {
      ready.reject(new Error(`a worker could not start (exit ${signal ?? code})`))
      return
    }
    recorder.counter('workerRestarts', [signal === null ? 'exit' : 'signal']).add()
    lend(slot)
    for (const other of slots) if (other.lentTo === slot) lend(other)
    const delayMs = backoffMs(slot)
    log.error(
      { event: 'worker_died', worker_pid: worker.process.pid, slot: slot.index, code, signal, replaced_in_ms: delayMs },
      'a worker died',
    )
    setTimeout(() => stopping || fork(slot), delayMs)
  }

  /** Connections that wait in the dead worker's queue, and new ones, are accepted by another worker at once. */
  const lend = (slot: Slot): void => {
    const helper = slots.find(other => other.isServing && other !== slot)
    slot.lentTo = helper
    if (helper?.worker) giveListener(slot, helper.worker)
  }

  const backoffMs = (slot: Slot): number => {
    slot.deaths = performance.now() - slot.startedAtMs > healthyAfterMs ? 1 : slot.deaths + 1
    return slot.deaths === 1 ? 0 : Math.min(maxBackoffMs, firstBackoffMs * 2 ** (slot.deaths - 2))
  }

  for (const slot of slots) fork(slot)
  return {
    allListening: ready.promise,
    serving: () => count(slots),
    names: () => slots.flatMap(slot => (slot.worker ? [nameOf(slot.worker)] : [])),
    tell(message) {
      for (const slot of slots) if (slot.worker) tellOne(slot.worker, message)
    },
    stop() {
      stopping = true
      if (slots.every(slot => slot.worker === undefined)) gone.resolve()
      for (const slot of slots) if (slot.worker) tellOne(slot.worker, { type: 'stop' })
      return gone.promise
    },
    kill() {
      stopping = true
      for (const slot of slots) slot.worker?.process.kill('SIGKILL')
    },
  }
}

const count = (slots: readonly Slot[]): number => slots.filter(slot => slot.isServing).length

const nameOf = (worker: Worker): WorkerName => `worker-${worker.id}`

const tellOne = (worker: Worker, message: PrimaryMessage): void => {
  if (worker.isConnected()) worker.send(message, undefined, undefined, () => undefined)
}
