import cluster, { type Worker } from 'node:cluster'
import type { Logger } from '../telemetry/logger.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import { type Backoff, createBackoff } from './backoff.ts'
import type { ConfigParcel } from './config-parcel.ts'
import type { Listeners, ListenHandle } from './listeners.ts'
import { type PrimaryMessage, type WorkerMessage, workerEnvironment } from './messages.ts'
import { defaultStartTimeoutMs, watchStart } from './start-watch.ts'

export interface WorkersOptions {
  readonly count: number
  /** What a worker begins with. */
  readonly config: () => ConfigParcel
  readonly listeners: Listeners
  /** One socket that all workers accept from; undefined: there is no private listener. */
  readonly privateListener: Listeners | undefined
  readonly log: Logger
  readonly recorder: Recorder
  /** How long a worker may take until it can serve; then it is ended, and replaced. Default 60_000. */
  readonly startTimeoutMs?: number
  /** What a worker says, other than about its listeners. */
  onMessage(worker: WorkerName, message: WorkerMessage, answer: (message: PrimaryMessage) => void): void
  /** A process has ended and everything it said has been heard; its name never comes again. */
  onGone(worker: WorkerName): void
}

/** Names one process, for its metrics. */
export type WorkerName = string

/** The serving processes: one per slot, replaced when they die, their listeners lent to the others meanwhile. */
export interface Workers {
  /** Resolves when every slot has been served once; rejects if a worker cannot start at all. */
  start(): Promise<void>
  /** How many slots are served by their own worker now. */
  serving(): number
  /** Processes that are alive now and have their app, by name. */
  names(): readonly WorkerName[]
  tell(message: PrimaryMessage): void
  /** Answers end their connections from now on, those of replacements too. */
  drain(): void
  /** Ends all of them when they are done. Resolves when the last has gone: whether all finished what they had. */
  stop(): Promise<boolean>
  /** Ends all of them at once. */
  kill(): void
}

interface Slot {
  readonly index: number
  readonly backoff: Backoff
  worker: Worker | undefined
  /** Whether its worker has said that it can serve. */
  hasStarted: boolean
  /** Why its worker ends without having served, where that is known. */
  failure: string | undefined
  /** `performance.now()` when its worker began to accept; undefined while it has none that does. */
  servingSinceMs: number | undefined
  /** Who accepts for it while it has no worker of its own. */
  lentTo: Slot | undefined
}

export const createWorkers = (options: WorkersOptions): Workers => {
  const { log, recorder, listeners, privateListener, startTimeoutMs = defaultStartTimeoutMs } = options
  const serving = recorder.gauge('workers', [])
  const slots = Array.from({ length: options.count }, (_, index): Slot => {
    const nobody = {
      worker: undefined,
      hasStarted: false,
      failure: undefined,
      servingSinceMs: undefined,
      lentTo: undefined,
    }
    return { index, backoff: createBackoff(), ...nobody }
  })
  const ready = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<boolean>()
  let phase: 'starting' | 'serving' | 'draining' | 'stopping' = 'starting'
  let allFinished = true

  const fork = (slot: Slot): void => {
    const worker = cluster.fork({ [workerEnvironment.slot]: String(slot.index) })
    slot.worker = worker
    slot.failure = undefined
    watchStart(worker, startTimeoutMs, () => {
      slot.failure = `it did not start within ${startTimeoutMs} ms`
    })
    worker.on('message', (message: WorkerMessage) => onMessage(slot, worker, message))
    worker.on('error', error => log.error({ event: 'worker_channel_failed', err: error }))
    worker.once('exit', (code, signal) => onExit(slot, worker, code, signal))
    // What it said last may be read after its exit is known; its channel ends when all of it has been.
    const ended = [new Promise(resolve => worker.once('exit', resolve)), new Promise(r => worker.once('disconnect', r))]
    Promise.all(ended).then(() => options.onGone(nameOf(worker)))
  }

  const onMessage = (slot: Slot, worker: Worker, message: WorkerMessage): void => {
    if (message.type === 'loaded') onLoaded(worker)
    else if (message.type === 'started') onStarted(slot, worker)
    else if (message.type === 'failed') slot.failure = message.reason
    else if (message.type === 'listening') onListening(slot, worker, message.slot)
    else options.onMessage(nameOf(worker), message, answer => tellOne(worker, answer))
  }

  /** Nothing is lost where one goes that never served. */
  const onLoaded = (worker: Worker): void => {
    if (phase === 'stopping') worker.process.kill('SIGKILL')
    else tellOne(worker, { type: 'configure', config: options.config() })
  }

  const onStarted = (slot: Slot, worker: Worker): void => {
    slot.hasStarted = true
    if (phase === 'draining') tellOne(worker, { type: 'drain' })
    if (phase === 'stopping') tellOne(worker, { type: 'stop' })
    else giveListeners(slot, worker)
  }

  /** The private one first: a slot that serves people can answer their login too. */
  const giveListeners = (slot: Slot, to: Worker): void => {
    if (privateListener) give(to, { type: 'listen-privately' }, privateListener.handle(0))
    giveListener(slot, to)
  }

  const giveListener = (slot: Slot, to: Worker): void =>
    give(to, { type: 'listen', slot: slot.index }, listeners.handle(slot.index))

  const onListening = (slot: Slot, worker: Worker, listeningSlot: number): void => {
    if (listeningSlot !== slot.index || slot.worker !== worker) return
    slot.servingSinceMs = performance.now()
    serving.set(countServing())
    if (slot.lentTo?.worker) tellOne(slot.lentTo.worker, { type: 'release', slot: slot.index })
    slot.lentTo = undefined
    log.info({ event: 'worker_ready', worker_pid: worker.process.pid, slot: slot.index }, 'worker ready')
    if (phase === 'starting' && slots.every(isServing)) {
      phase = 'serving'
      ready.resolve()
    }
    lendOrphans()
  }

  const onExit = (slot: Slot, worker: Worker, code: number | null, signal: string | null): void => {
    const servedMs = slot.servingSinceMs === undefined ? 0 : performance.now() - slot.servingSinceMs
    slot.worker = undefined
    slot.hasStarted = false
    slot.servingSinceMs = undefined
    serving.set(countServing())
    switch (phase) {
      case 'starting':
        ready.reject(new Error(`a worker could not start: ${slot.failure ?? signal ?? `exit ${code}`}`))
        break
      case 'serving':
      case 'draining': {
        const replacedInMs = replaceLater(slot, servedMs)
        const died = { worker_pid: worker.process.pid, slot: slot.index, code, signal, replaced_in_ms: replacedInMs }
        const reason = slot.failure !== undefined && { reason: slot.failure }
        log.error({ event: 'worker_died', ...died, ...reason }, 'a worker died')
        recorder.counter('workerRestarts', [signal === null ? 'exit' : 'signal']).add()
        break
      }
      case 'stopping':
        if (code !== 0 && servedMs > 0) allFinished = false
        resolveIfGone()
    }
  }

  const replaceLater = (slot: Slot, servedMs: number): number => {
    for (const other of slots) if (other.lentTo === slot) other.lentTo = undefined
    lendOrphans()
    const delayMs = slot.backoff.afterDeath(servedMs)
    setTimeout(() => phase === 'stopping' || fork(slot), delayMs).unref()
    return delayMs
  }

  /** Connections that wait in a dead worker's queue, and new ones, are accepted by another worker as soon as there is one. */
  const lendOrphans = (): void => {
    if (phase === 'starting') return
    for (const slot of slots) {
      if (isServing(slot) || slot.lentTo) continue
      slot.lentTo = slots.find(isServing)
      if (slot.lentTo?.worker) giveListener(slot, slot.lentTo.worker)
    }
  }

  const countServing = (): number => slots.filter(isServing).length
  const resolveIfGone = (): void => {
    if (slots.every(slot => slot.worker === undefined)) gone.resolve(allFinished)
  }
  const tell = (message: PrimaryMessage): void => {
    for (const slot of slots) if (slot.worker) tellOne(slot.worker, message)
  }

  return {
    start() {
      for (const slot of slots) fork(slot)
      return ready.promise
    },
    serving: countServing,
    names: () => slots.flatMap(slot => (slot.worker && slot.hasStarted ? [nameOf(slot.worker)] : [])),
    tell,
    drain() {
      phase = 'draining'
      tell({ type: 'drain' })
    },
    stop() {
      phase = 'stopping'
      tell({ type: 'stop' })
      resolveIfGone()
      return gone.promise
    },
    kill() {
      phase = 'stopping'
      for (const slot of slots) slot.worker?.process.kill('SIGKILL')
    },
  }
}

const isServing = (slot: Slot): boolean => slot.servingSinceMs !== undefined

const nameOf = (worker: Worker): WorkerName => `worker-${worker.id}`

const give = (worker: Worker, message: PrimaryMessage, handle: ListenHandle): void => {
  if (worker.isConnected()) worker.send(message, handle as never, () => undefined)
}

const tellOne = (worker: Worker, message: PrimaryMessage): void => {
  if (worker.isConnected()) worker.send(message, undefined, undefined, () => undefined)
}
