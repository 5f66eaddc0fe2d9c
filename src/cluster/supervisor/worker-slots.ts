import { type Backoff, createBackoff } from './backoff.ts'
import type { Listeners } from './reuseport-sockets.ts'
import type { WorkerProcess } from './worker-process.ts'

/** The place of one worker: it has a listening socket of its own, whoever accepts from it. */
export interface Slot {
  readonly index: number
  readonly backoff: Backoff
  worker: WorkerProcess | undefined
  /** Is to take the place of its worker, and tells whoever waits for it when it has. */
  successor: { readonly worker: WorkerProcess; readonly settle: PromiseWithResolvers<void> } | undefined
  /** `performance.now()` when its worker began to accept; undefined while it has none that does. */
  servingSinceMs: number | undefined
  /** Its worker has stopped sending messages, so another worker accepts from its socket. */
  isUnresponsive: boolean
  /** Who accepts for it while it has no worker of its own. */
  reassignedTo: Slot | undefined
}

export const createSlots = (count: number): readonly Slot[] =>
  Array.from({ length: count }, (_, index) => {
    const nobody = { worker: undefined, successor: undefined, servingSinceMs: undefined, reassignedTo: undefined }
    const isUnresponsive = false
    return { index, backoff: createBackoff(), isUnresponsive, ...nobody }
  })

export const isServing = (slot: Slot): boolean => slot.servingSinceMs !== undefined && !slot.isUnresponsive

/** Who accepts from which slot's socket: its own worker, or another while it has none that does. */
export interface SlotListeners {
  give(slot: Slot, to: WorkerProcess): void
  /** Connections that wait in a dead worker's queue, and new ones, are accepted by another worker as soon as there is one. */
  reassignListeners(): void
  /** The slot's own worker accepts now: whoever did so for it stops to. */
  takeBack(slot: Slot): void
  /** What was lent to the worker of a slot goes to the one that takes its place. */
  handOver(slot: Slot, to: WorkerProcess): void
  /** The worker of a slot is gone: what was lent to it is lent to nobody. */
  forget(slot: Slot): void
  /** The worker of a slot does not respond: what was lent to it can be lent to another, and it lets go of that when it responds. */
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
