import { type Backoff, createBackoff } from './backoff.ts'
import type { Listeners } from './reuseport-sockets.ts'
import type { WorkerProcess } from './worker-process.ts'

/** The place of one worker. Each slot has a listening socket of its own, whichever worker accepts from it. */
export interface Slot {
  readonly index: number
  readonly backoff: Backoff
  worker: WorkerProcess | undefined
  /** The worker that is to replace `worker`; `settle` resolves when it has, and rejects if it cannot serve. */
  successor: { readonly worker: WorkerProcess; readonly settle: PromiseWithResolvers<void> } | undefined
  /** `performance.now()` when its worker began to accept; undefined while no worker of its own accepts. */
  servingSinceMs: number | undefined
  /** Its worker has stopped sending messages, so another worker accepts from its socket. */
  isUnresponsive: boolean
  /** The slot whose worker accepts from this slot's socket, while this slot has no worker that does. */
  reassignedTo: Slot | undefined
}

export const createSlots = (count: number): readonly Slot[] =>
  Array.from({ length: count }, (_, index) => ({
    index,
    backoff: createBackoff(),
    worker: undefined,
    successor: undefined,
    servingSinceMs: undefined,
    isUnresponsive: false,
    reassignedTo: undefined,
  }))

export const isServing = (slot: Slot): boolean => slot.servingSinceMs !== undefined && !slot.isUnresponsive

/** The slot's worker has exited. @returns how long it had served, in milliseconds; 0 if it never did */
export const vacate = (slot: Slot): number => {
  const servedMs = slot.servingSinceMs === undefined ? 0 : performance.now() - slot.servingSinceMs
  slot.worker = undefined
  slot.isUnresponsive = false
  slot.servingSinceMs = undefined
  return servedMs
}

/** The successor becomes the slot's worker. @returns the worker that it replaces; undefined if that one has exited */
export const promoteSuccessor = (slot: Slot, isUnresponsive: boolean): WorkerProcess | undefined => {
  const { worker: replaced, successor } = slot
  slot.worker = successor?.worker
  slot.successor = undefined
  slot.isUnresponsive = isUnresponsive
  return replaced
}

/**
 * Which worker accepts from which slot's socket: the slot's own worker, or another one while the own one does not
 * serve.
 */
export interface SlotListeners {
  give(slot: Slot, to: WorkerProcess): void
  /**
   * Has a serving worker accept from the socket of each slot whose own worker does not serve: both new connections and
   * those that wait in the queue of a worker that died.
   */
  reassignListeners(): void
  /** The slot's own worker accepts now, so the worker that did so in its place stops. */
  takeBack(slot: Slot): void
  /** The sockets that the slot's worker accepts from for other slots are given to its successor. */
  handOver(slot: Slot, to: WorkerProcess): void
  /** The slot's worker has exited: the sockets that it accepted from for other slots can be reassigned. */
  forget(slot: Slot): void
  /**
   * The slot's worker does not respond: the sockets that it accepts from for other slots can be reassigned. The worker
   * closes them when it responds again.
   */
  withdraw(slot: Slot): void
}

export const createSlotListeners = (slots: readonly Slot[], listeners: Listeners): SlotListeners => {
  const give = (slot: Slot, to: WorkerProcess): void =>
    to.give({ type: 'listen', slot: slot.index }, listeners.handle(slot.index))
  const takeBack = (slot: Slot): void => {
    slot.reassignedTo?.worker?.tell({ type: 'release', slot: slot.index })
    slot.reassignedTo = undefined
  }
  return {
    give,
    reassignListeners() {
      for (const slot of slots) {
        if (isServing(slot) || slot.reassignedTo) continue
        slot.reassignedTo = slots.find(isServing)
        if (slot.reassignedTo?.worker) give(slot, slot.reassignedTo.worker)
      }
    },
    takeBack,
    handOver(slot, to) {
      for (const other of slots) if (other.reassignedTo === slot) give(other, to)
    },
    forget(slot) {
      for (const other of slots) if (other.reassignedTo === slot) other.reassignedTo = undefined
    },
    withdraw(slot) {
      for (const other of slots) if (other.reassignedTo === slot) takeBack(other)
    },
  }
}
