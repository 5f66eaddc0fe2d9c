import type { CounterCell, GaugeCell } from '../../telemetry/recorder.ts'
import type { PrimaryMessage, WorkerMessage } from '../messages.ts'
import { createWatchdog, type Watchdog } from './watchdog.ts'
import type { WorkerPoolHandlers, WorkerPoolOptions } from './worker-pool-options.ts'
import { defaultStartTimeoutMs, forkWorker, type WorkerName, type WorkerProcess } from './worker-process.ts'
import {
  createSlotListeners,
  createSlots,
  isServing,
  promoteSuccessor,
  type Slot,
  type SlotListeners,
  vacate,
} from './worker-slots.ts'

/**
 * The serving processes: one per slot. A worker that dies is replaced, and another one accepts in its place meanwhile.
 */
export interface Workers {
  /** Resolves when each slot's worker has begun to accept; rejects if a worker cannot start. */
  start(handlers: WorkerPoolHandlers): Promise<void>
  /** The number of slots whose own worker serves now. */
  serving(): number
  /** The names of the processes that are alive and have built their app. */
  names(): readonly WorkerName[]
  /** Sends a message to every worker. @param except a worker that does not get it */
  tell(message: PrimaryMessage, except?: WorkerName): void
  /**
   * Replaces every worker, one after the other: the new one accepts before the old one stops.
   * @throws Error if a new worker cannot serve, or if the pool stops meanwhile; the old workers that are left continue
   * to serve
   */
  replaceAll(): Promise<void>
  /** From now on every response ends its connection. Replacements of workers that die do the same. */
  drain(): void
  /**
   * Ends each worker when its requests are finished. Resolves when the last has exited, with whether all of them
   * finished.
   */
  stop(): Promise<boolean>
  /** Kills all workers at once. */
  kill(): void
}

type Phase = 'starting' | 'serving' | 'draining' | 'stopping'

/** How a process ended. */
interface ProcessEnd {
  readonly code: number | null
  readonly signal: string | null
}

export class WorkerPool implements Workers {
  readonly #options: WorkerPoolOptions
  readonly #slots: readonly Slot[]
  readonly #slotListeners: SlotListeners
  readonly #serving: GaugeCell
  readonly #restarts: Readonly<Record<'exit' | 'signal' | 'timeout', CounterCell>>
  readonly #alive = new Set<WorkerProcess>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #gone = Promise.withResolvers<boolean>()
  #started: { readonly handlers: WorkerPoolHandlers; readonly watchdog: Watchdog } | undefined
  #phase: Phase = 'starting'
  #hasEveryWorkerFinished = true

  constructor(options: WorkerPoolOptions) {
    const { recorder } = options
    this.#options = options
    this.#slots = createSlots(options.count)
    this.#slotListeners = createSlotListeners(this.#slots, options.listeners)
    this.#serving = recorder.gauge('workers', [])
    this.#restarts = {
      // Created at 0 before any restart, because Prometheus sees no increase in a series that begins at 1.
      exit: recorder.counter('workerRestarts', ['exit']),
      signal: recorder.counter('workerRestarts', ['signal']),
      timeout: recorder.counter('workerRestarts', ['timeout']),
    }
  }

  start(handlers: WorkerPoolHandlers): Promise<void> {
    const watchdog = createWatchdog({
      timeoutMs: handlers.workerTimeoutMs,
      onUnresponsive: worker => this.#setUnresponsive(worker, true),
      onResponsive: worker => this.#setUnresponsive(worker, false),
      onTimeout: (worker, timeoutMs) => worker.timeOut(`it did not respond for ${timeoutMs} ms`),
    })
    this.#started = { handlers, watchdog }
    for (const slot of this.#slots) slot.worker = this.#fork(slot)
    return this.#ready.promise
  }

  serving(): number {
    return this.#slots.filter(isServing).length
  }

  names(): readonly WorkerName[] {
    return [...this.#alive].filter(worker => worker.hasStarted()).map(worker => worker.name)
  }

  tell(message: PrimaryMessage, except?: WorkerName): void {
    for (const worker of this.#alive) if (worker.name !== except) worker.tell(message)
  }

  async replaceAll(): Promise<void> {
    for (const slot of this.#slots) await this.#replace(slot)
  }

  drain(): void {
    this.#phase = 'draining'
    this.tell({ type: 'drain' })
  }

  stop(): Promise<boolean> {
    this.#phase = 'stopping'
    this.tell({ type: 'stop' })
    this.#resolveIfAllGone()
    return this.#gone.promise
  }

  kill(): void {
    this.#phase = 'stopping'
    this.#started?.watchdog.close()
    for (const worker of this.#alive) worker.kill()
  }

  #running(): { readonly handlers: WorkerPoolHandlers; readonly watchdog: Watchdog } {
    if (!this.#started) throw new TypeError('the pool forks no worker before it is started')
    return this.#started
  }

  #fork(slot: Slot): WorkerProcess {
    const { log, preloaded, startTimeoutMs = defaultStartTimeoutMs } = this.#options
    const { handlers, watchdog } = this.#running()
    const worker: WorkerProcess = forkWorker(
      slot.index,
      {
        log,
        startTimeoutMs,
        onMessage: message => {
          // While the worker loads its code and builds its app, the start-up timeout applies instead.
          if (worker.hasStarted()) watchdog.heard(worker)
          this.#onMessage(slot, worker, message)
        },
        onExit: (code, signal) => this.#onExit(slot, worker, { code, signal }),
        onGone: () => handlers.onGone(worker.name),
      },
      slot.index === preloaded?.slot ? preloaded.take() : undefined,
    )
    this.#alive.add(worker)
    return worker
  }

  #onMessage(slot: Slot, worker: WorkerProcess, message: WorkerMessage): void {
    switch (message.type) {
      case 'loaded':
        void this.#configure(worker)
        break
      case 'started':
        this.#onStarted(slot, worker)
        break
      case 'listening':
        this.#onListening(slot, worker, message.slot)
        break
      case 'failed':
      case 'heartbeat':
        break
      default:
        this.#running().handlers.onMessage(worker.name, message, worker.tell)
    }
  }

  async #configure(worker: WorkerProcess): Promise<void> {
    const config = await this.#running().handlers.config()
    // A worker that never served has no requests to lose.
    if (this.#phase === 'stopping') worker.kill()
    else worker.tell({ type: 'configure', config })
  }

  #onStarted(slot: Slot, worker: WorkerProcess): void {
    if (this.#phase === 'draining') worker.tell({ type: 'drain' })
    if (this.#phase === 'stopping') worker.tell({ type: 'stop' })
    else this.#giveListeners(slot, worker)
  }

  /** The private listener goes first: when a slot accepts traffic, its worker can answer the calls of a login too. */
  #giveListeners(slot: Slot, to: WorkerProcess): void {
    const { privateListener } = this.#options
    if (privateListener) to.give({ type: 'listen-privately' }, privateListener.handle(0))
    this.#slotListeners.give(slot, to)
  }

  #onListening(slot: Slot, worker: WorkerProcess, listeningSlot: number): void {
    if (listeningSlot !== slot.index) return
    if (worker === slot.successor?.worker) this.#takeOver(slot, slot.successor)
    if (slot.worker !== worker) return
    slot.servingSinceMs = performance.now()
    this.#serving.set(this.serving())
    this.#slotListeners.takeBack(slot)
    this.#options.log.info({ event: 'worker_ready', worker_pid: worker.pid, slot: slot.index }, 'worker ready')
    if (this.#phase === 'starting' && this.#slots.every(isServing)) {
      this.#phase = 'serving'
      this.#ready.resolve()
    }
    this.#reassignListeners()
  }

  /** Both workers accept from the slot's socket now, so the old one can stop without losing what waits in the queue. */
  #takeOver(slot: Slot, { worker, settle }: NonNullable<Slot['successor']>): void {
    const { handlers, watchdog } = this.#running()
    const replaced = promoteSuccessor(slot, watchdog.isUnresponsive(worker))
    this.#slotListeners.handOver(slot, worker)
    replaced?.retire(handlers.retireTimeoutMs())
    settle.resolve()
  }

  #onExit(slot: Slot, worker: WorkerProcess, end: ProcessEnd): void {
    this.#alive.delete(worker)
    this.#running().watchdog.forget(worker)
    if (slot.worker === worker) this.#onSlotVacant(slot, worker, end)
    else if (slot.successor?.worker === worker) this.#giveUpSuccessor(slot, causeOf(worker, end))
    if (this.#phase === 'stopping') this.#resolveIfAllGone()
  }

  #onSlotVacant(slot: Slot, worker: WorkerProcess, end: ProcessEnd): void {
    const servedMs = vacate(slot)
    this.#serving.set(this.serving())
    switch (this.#phase) {
      case 'starting':
        this.#ready.reject(new Error(`a worker could not start: ${causeOf(worker, end)}`))
        break
      case 'serving':
      case 'draining':
        this.#reportDeath(slot, worker, end, this.#replaceLater(slot, servedMs))
        break
      case 'stopping':
        if (end.code !== 0 && servedMs > 0) this.#hasEveryWorkerFinished = false
    }
  }

  #reportDeath(slot: Slot, worker: WorkerProcess, { code, signal }: ProcessEnd, replacedInMs: number): void {
    const facts = { worker_pid: worker.pid, slot: slot.index, replaced_in_ms: replacedInMs }
    const cause = { exit_code: code ?? undefined, signal: signal ?? undefined, reason: worker.failure() }
    this.#options.log.error({ event: 'worker_died', ...facts, ...cause }, 'a worker died')
    this.#restarts[worker.hasTimedOut() ? 'timeout' : signal === null ? 'exit' : 'signal'].add()
  }

  #giveUpSuccessor(slot: Slot, reason: string): void {
    slot.successor?.settle.reject(new Error(`a new worker cannot serve: ${reason}`))
    slot.successor = undefined
    if (!slot.worker && this.#phase !== 'stopping') slot.worker = this.#fork(slot)
  }

  /** @returns milliseconds until the replacement starts */
  #replaceLater(slot: Slot, servedMs: number): number {
    this.#slotListeners.forget(slot)
    this.#reassignListeners()
    // The successor has been forked already.
    if (slot.successor) return 0
    const delayMs = slot.backoff.afterDeath(servedMs)
    setTimeout(() => {
      if (this.#phase !== 'stopping') slot.worker = this.#fork(slot)
    }, delayMs).unref()
    return delayMs
  }

  #reassignListeners(): void {
    if (this.#phase === 'serving' || this.#phase === 'draining') this.#slotListeners.reassignListeners()
  }

  /** @param isUnresponsive whether the worker has stopped sending messages, or sends them again */
  #setUnresponsive(worker: WorkerProcess, isUnresponsive: boolean): void {
    const { log } = this.#options
    const slot = this.#slots.find(each => each.worker === worker)
    // A worker that retires has left its slot and accepts no connections.
    if (!slot) return
    slot.isUnresponsive = isUnresponsive
    this.#serving.set(this.serving())
    const facts = { worker_pid: worker.pid, slot: slot.index }
    if (isUnresponsive) {
      log.error({ event: 'worker_unresponsive', ...facts }, 'a worker does not respond: others accept in its place')
      this.#slotListeners.withdraw(slot)
    } else {
      log.info({ event: 'worker_responsive', ...facts }, 'a worker responds again')
      if (isServing(slot)) this.#slotListeners.takeBack(slot)
    }
    this.#reassignListeners()
  }

  #replace(slot: Slot): Promise<void> {
    if (this.#phase !== 'serving') throw new Error('Sidegate is about to stop')
    // The slot's worker has died or is being replaced, so the slot gets a new worker anyway.
    if (!slot.worker || slot.successor) return Promise.resolve()
    const settle = Promise.withResolvers<void>()
    slot.successor = { worker: this.#fork(slot), settle }
    return settle.promise
  }

  #resolveIfAllGone(): void {
    if (this.#alive.size === 0) this.#gone.resolve(this.#hasEveryWorkerFinished)
  }
}

/** Why a worker ended, in a few words. */
const causeOf = (worker: WorkerProcess, { code, signal }: ProcessEnd): string =>
  worker.failure() ?? signal ?? `exit ${code}`
