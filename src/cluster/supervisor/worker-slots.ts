import { type Backoff, createBackoff } from './backoff.ts'
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
