import { type Poll, poll } from '../../poll.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Finds workers whose event loop is blocked: each worker sends a message at least once every `heartbeatEveryMs`. */
export interface Watchdog {
  /** A message of the worker was received. The first one begins the watch. */
  heard(worker: WorkerProcess): void
  /** The worker has exited. */
  forget(worker: WorkerProcess): void
  isUnresponsive(worker: WorkerProcess): boolean
  close(): void
}

export interface WatchdogOptions {
  /** A worker without a message for this time is killed; called at each check. */
  readonly timeoutMs: () => number
  onUnresponsive(worker: WorkerProcess): void
  /** A worker that was unresponsive has sent a message. */
  onResponsive(worker: WorkerProcess): void
  onTimeout(worker: WorkerProcess, timeoutMs: number): void
}

/** How often a worker sends a message, even when it has nothing to report. */
export const heartbeatEveryMs = 1500
/** A worker is unresponsive after this time without a message. */
export const unresponsiveAfterMs = 3000
const lookEveryMs = 1000

/** The next check makes this 0. */
const justHeard = -lookEveryMs

interface Watched {
  /** The minimum time without a message: the time between a message and the next check does not count. */
  silentMs: number
  isKilled: boolean
}

/**
 * Each check adds the time between two checks to the silence of every worker, however long ago the last check was. If
 * the machine was suspended, or the primary was stopped or got no CPU, the messages of that time are still unread, so
 * the clock would blame the workers. Every turn of the event loop runs one check at most and then reads the messages.
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
