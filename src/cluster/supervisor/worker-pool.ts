import type { PrimaryMessage, WorkerMessage } from '../messages.ts'
import { createWatchdog } from './watchdog.ts'
import type { WorkersOptions } from './worker-pool-options.ts'
import {
  defaultStartTimeoutMs,
  forkWorker,
  type WorkerEvents,
  type WorkerName,
  type WorkerProcess,
} from './worker-process.ts'
import { createSlotListeners, createSlots, isServing, type Slot } from './worker-slots.ts'

/** The serving processes: one per slot, replaced when they die, their listeners lent to the others meanwhile. */
export interface Workers {
  /** Resolves when every slot has been served once; rejects if a worker cannot start at all. */
  start(): Promise<void>
  /** How many slots are served by their own worker now. */
  serving(): number
  /** Processes that are alive now and have their app, by name. */
  names(): readonly WorkerName[]
  /** @param except a worker that is not told */
  tell(message: PrimaryMessage, except?: WorkerName): void
  /**
   * Puts a new worker in the place of each, one after the other: the new one accepts before the old one stops to.
   * @throws Error where a new one cannot serve, or everything ends meanwhile; the old ones that are left serve on
   */
  replaceAll(): Promise<void>
  /** Answers end their connections from now on, those of replacements too. */
  drain(): void
  /** Ends all of them when they are done. Resolves when the last has gone: whether all finished what they had. */
  stop(): Promise<boolean>
  /** Ends all of them at once. */
  kill(): void
}

export const createWorkers = (options: WorkersOptions): Workers => {
  const { log, recorder, listeners, privateListener, startTimeoutMs = defaultStartTimeoutMs } = options
  const serving = recorder.gauge('workers', [])
  const restarts = {
    // There from the start, at 0: Prometheus sees no increase in a series that begins at 1.
    exit: recorder.counter('workerRestarts', ['exit']),
    signal: recorder.counter('workerRestarts', ['signal']),
    timeout: recorder.counter('workerRestarts', ['timeout']),
  }
  const slots = createSlots(options.count)
  const slotListeners = createSlotListeners(slots, listeners)
  const alive = new Set<WorkerProcess>()
  const ready = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<boolean>()
  let phase: 'starting' | 'serving' | 'draining' | 'stopping' = 'starting'
  let allFinished = true

  const fork = (slot: Slot): WorkerProcess => {
    const preloaded = slot.index === options.preloaded?.slot ? options.preloaded.take() : undefined
    const events: WorkerEvents = {
      log,
      startTimeoutMs,
      onMessage(message) {
        // Before that a worker loads code and builds, and has its own timeout.
        if (worker.hasStarted()) watchdog.heard(worker)
        onMessage(slot, worker, message)
      },
      onExit: (code, signal) => onExit(slot, worker, code, signal),
      onGone: () => options.onGone(worker.name),
    }
    const worker = forkWorker(slot.index, events, preloaded)
    alive.add(worker)
    return worker
  }

  const onMessage = (slot: Slot, worker: WorkerProcess, message: WorkerMessage): void => {
    if (message.type === 'loaded') void onLoaded(worker)
    else if (message.type === 'started') onStarted(slot, worker)
    else if (message.type === 'listening') onListening(slot, worker, message.slot)
    else if (message.type !== 'failed' && message.type !== 'heartbeat')
      options.onMessage(worker.name, message, worker.tell)
  }

  /** Nothing is lost where one goes that never served. */
  const onLoaded = async (worker: WorkerProcess): Promise<void> => {
    const config = await options.config()
    if (phase === 'stopping') worker.kill()
    else worker.tell({ type: 'configure', config })
  }

  const onStarted = (slot: Slot, worker: WorkerProcess): void => {
    if (phase === 'draining') worker.tell({ type: 'drain' })
    if (phase === 'stopping') worker.tell({ type: 'stop' })
    else giveListeners(slot, worker)
  }

  /** The private one first: a slot that serves people can answer their login too. */
  const giveListeners = (slot: Slot, to: WorkerProcess): void => {
    if (privateListener) to.give({ type: 'listen-privately' }, privateListener.handle(0))
    slotListeners.give(slot, to)
  }

  const onListening = (slot: Slot, worker: WorkerProcess, listeningSlot: number): void => {
    if (listeningSlot !== slot.index) return
    if (worker === slot.successor?.worker) takeOver(slot)
    if (slot.worker !== worker) return
    slot.servingSinceMs = performance.now()
    serving.set(countServing())
    slotListeners.takeBack(slot)
    log.info({ event: 'worker_ready', worker_pid: worker.pid, slot: slot.index }, 'worker ready')
    if (phase === 'starting' && slots.every(isServing)) {
      phase = 'serving'
      ready.resolve()
    }
    reassignListeners()
  }

  /** Both accept from the slot's socket now, so the old worker can stop to: nothing that waits in the queue is lost. */
  const takeOver = (slot: Slot): void => {
    const { worker: before, successor } = slot
    if (!successor) return
    slot.worker = successor.worker
    slot.successor = undefined
    slot.isUnresponsive = watchdog.isUnresponsive(successor.worker)
    slotListeners.handOver(slot, successor.worker)
    before?.retire(options.retireTimeoutMs())
    successor.settle.resolve()
  }

  const onExit = (slot: Slot, worker: WorkerProcess, code: number | null, signal: string | null): void => {
    alive.delete(worker)
    watchdog.forget(worker)
    if (slot.worker === worker) onOwnExit(slot, worker, code, signal)
    else if (slot.successor?.worker === worker) giveUpSuccessor(slot, worker.failure() ?? signal ?? `exit ${code}`)
    if (phase === 'stopping') endIfGone()
  }

  const onOwnExit = (slot: Slot, worker: WorkerProcess, code: number | null, signal: string | null): void => {
    const servedMs = slot.servingSinceMs === undefined ? 0 : performance.now() - slot.servingSinceMs
    const reason = worker.failure()
    slot.worker = undefined
    slot.isUnresponsive = false
    slot.servingSinceMs = undefined
    serving.set(countServing())
    switch (phase) {
      case 'starting':
        ready.reject(new Error(`a worker could not start: ${reason ?? signal ?? `exit ${code}`}`))
        break
      case 'serving':
      case 'draining': {
        const replacedInMs = replaceLater(slot, servedMs)
        const ending = { exit_code: code ?? undefined, signal: signal ?? undefined, reason }
        const died = { worker_pid: worker.pid, slot: slot.index, replaced_in_ms: replacedInMs, ...ending }
        log.error({ event: 'worker_died', ...died }, 'a worker died')
        restarts[worker.hasTimedOut() ? 'timeout' : signal === null ? 'exit' : 'signal'].add()
        break
      }
      case 'stopping':
        if (code !== 0 && servedMs > 0) allFinished = false
    }
  }

  const giveUpSuccessor = (slot: Slot, reason: string): void => {
    slot.successor?.settle.reject(new Error(`a new worker cannot serve: ${reason}`))
    slot.successor = undefined
    if (!slot.worker && phase !== 'stopping') slot.worker = fork(slot)
  }

  const replaceLater = (slot: Slot, servedMs: number): number => {
    slotListeners.forget(slot)
    reassignListeners()
    // Its successor is on the way already.
    if (slot.successor) return 0
    const delayMs = slot.backoff.afterDeath(servedMs)
    setTimeout(() => {
      if (phase !== 'stopping') slot.worker = fork(slot)
    }, delayMs).unref()
    return delayMs
  }

  const reassignListeners = (): void => {
    if (phase === 'serving' || phase === 'draining') slotListeners.reassignListeners()
  }

  /** @param isUnresponsive whether the worker stopped sending messages, or sends them again */
  const onTurn = (worker: WorkerProcess, isUnresponsive: boolean): void => {
    const slot = slots.find(each => each.worker === worker)
    // A worker that retires accepts nothing any more.
    if (!slot) return
    slot.isUnresponsive = isUnresponsive
    serving.set(countServing())
    const facts = { worker_pid: worker.pid, slot: slot.index }
    if (isUnresponsive) {
      log.error({ event: 'worker_unresponsive', ...facts }, 'a worker does not respond: others accept in its place')
      slotListeners.withdraw(slot)
    } else {
      log.info({ event: 'worker_responsive', ...facts }, 'a worker responds again')
      if (isServing(slot)) slotListeners.takeBack(slot)
    }
    reassignListeners()
  }
  const watchdog = createWatchdog({
    timeoutMs: options.workerTimeoutMs,
    onUnresponsive: worker => onTurn(worker, true),
    onResponsive: worker => onTurn(worker, false),
    onTimeout: (worker, timeoutMs) => worker.timeOut(`it did not respond for ${timeoutMs} ms`),
  })

  const replace = (slot: Slot): Promise<void> => {
    if (phase !== 'serving') throw new Error('Sidegate is about to stop')
    // It is being replaced as it is.
    if (!slot.worker || slot.successor) return Promise.resolve()
    const settle = Promise.withResolvers<void>()
    slot.successor = { worker: fork(slot), settle }
    return settle.promise
  }

  const countServing = (): number => slots.filter(isServing).length
  const endIfGone = (): void => {
    if (alive.size === 0) gone.resolve(allFinished)
  }
  const tell: Workers['tell'] = (message, except) => {
    for (const worker of alive) if (worker.name !== except) worker.tell(message)
  }

  return {
    start() {
      for (const slot of slots) slot.worker = fork(slot)
      return ready.promise
    },
    serving: countServing,
    names: () => [...alive].filter(worker => worker.hasStarted()).map(worker => worker.name),
    tell,
    async replaceAll() {
      for (const slot of slots) await replace(slot)
    },
    drain() {
      phase = 'draining'
      tell({ type: 'drain' })
    },
    stop() {
      phase = 'stopping'
      tell({ type: 'stop' })
      endIfGone()
      return gone.promise
    },
    kill() {
      phase = 'stopping'
      watchdog.close()
      for (const worker of alive) worker.kill()
    },
  }
}
