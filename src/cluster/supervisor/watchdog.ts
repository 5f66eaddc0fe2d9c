import { type Poll, poll } from '../../poll.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Finds workers whose event loop stands still: each worker sends a message at least once every `heartbeatEveryMs`. */
export interface Watchdog {
  /** A message of the worker has come. The first one begins the watch. */
  heard(worker: WorkerProcess): void
  /** The worker has exited. */
  forget(worker: WorkerProcess): void
  isUnresponsive(worker: WorkerProcess): boolean
  close(): void
}

export interface WatchdogOptions {
  /** After so long without a message the worker is killed; asked at each look. */
  readonly timeoutMs: () => number
  onUnresponsive(worker: WorkerProcess): void
  /** A message has come of a worker that was unresponsive. */
  onResponsive(worker: WorkerProcess): void
  onTimeout(worker: WorkerProcess, timeoutMs: number): void
}

/** How often a worker sends a message, even when it has nothing to report. */
export const heartbeatEveryMs = 1500
/** A worker is unresponsive after so long without a message. */
export const unresponsiveAfterMs = 3000
const lookEveryMs = 1000

/** What the next look makes 0. */
const justHeard = -lookEveryMs

interface Watched {
  /** At least so long no message has come: the time between a message and the next look does not count. */
  silentMs: number
  isKilled: boolean
}

/**
 * Each look adds the time between two looks to the silence of every worker, however long ago the last look was. When the machine
 * was suspended, or the primary was stopped or got no CPU, the messages of that time are still unread, so the clock would blame the
 * workers. Every turn of the event loop runs one look at most and then reads the messages.
 */
export const createWatchdog = (options: WatchdogOptions): Watchdog => {
  const watched = new Map<WorkerProcess, Watched>()
  const look = (): void => {
    const timeoutMs = options.timeoutMs()
    for (const [worker, state] of watched) {
      const before = state.silentMs
      state.silentMs += lookEveryMs
      if (before < unresponsiveAfterMs && state.silentMs >= unresponsiveAfterMs) options.onUnresponsive(worker)
      if (state.silentMs < timeoutMs || state.isKilled) continue
      state.isKilled = true
      options.onTimeout(worker, timeoutMs)
    }
  }
  const looking: Poll = poll(look, lookEveryMs)
  const isUnresponsive = (worker: WorkerProcess): boolean => (watched.get(worker)?.silentMs ?? 0) >= unresponsiveAfterMs
  return {
    heard(worker) {
      const state = watched.get(worker)
      if (state === undefined) {
        watched.set(worker, { silentMs: justHeard, isKilled: false })
        return
      }
      const wasUnresponsive = isUnresponsive(worker)
      state.silentMs = justHeard
      if (wasUnresponsive && !state.isKilled) options.onResponsive(worker)
    },
    forget: worker => void watched.delete(worker),
    isUnresponsive,
    close: looking.close,
  }
}
