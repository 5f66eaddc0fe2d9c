import type { Server } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { HttpServer } from '../../app.ts'
import type { ListenHandle } from '../supervisor/reuseport-sockets.ts'

/** The numbers of open connections of a worker. */
export interface OpenSockets {
  readonly now: number
  readonly most: number
}

/** The listening sockets of one worker and the connections that came through them. */
export interface Sockets {
  /** The number of open connections, and the highest number since the last call. */
  count(): OpenSockets
  /** Calls back once, when another connection is accepted. A second call replaces the first. */
  onNextConnection(callback: () => void): void
  /** Accepts for a slot. The first slot is the worker's own; others have no worker that serves. */
  listen(slot: number, handle: ListenHandle, onListening: () => void): void
  /** Stops accepting for a slot that is not its own. */
  release(slot: number): void
  /** Stops accepting because another process does; resolves when every connection has ended, or at the timeout. */
  retire(timeoutMs: number): Promise<void>
  /** Stops accepting; resolves when every request is answered. */
  finish(): Promise<void>
}

/** Time for a connection without a request, new or kept alive, to send one before the worker ends, in milliseconds. */
const lastRequestPatienceMs = 1000
const lookEveryMs = 10
/**
 * Maximum wait for the queue of a listener to be empty, and the maximum duration of a short turn of the event loop, in
 * milliseconds.
 */
const acceptPatienceMs = 250
const shortTurnMs = 0.1

/** @param inFlight the number of requests being answered now */
export const createSockets = (server: HttpServer, inFlight: () => number): Sockets => {
  const bySlot = new Map<number, Server>()
  let most = 0
  const isBusy = (): boolean => inFlight() > 0 || server.isSending()

  return {
    count() {
      const now = server.openConnections()
      const counted = { now, most: Math.max(now, most, server.takeMostConnections()) }
      most = now
      return counted
    },
    onNextConnection: server.onNextConnection,
    listen(slot, handle, onListening) {
      const listener = server.createListener()
      bySlot.set(slot, listener)
      listener.listen(handle, onListening)
    },
    release(slot) {
      const [own] = bySlot.keys()
      if (slot === own) return
      bySlot.get(slot)?.close()
      bySlot.delete(slot)
    },
    async retire(timeoutMs) {
      for (const listener of bySlot.values()) listener.close()
      const untilMs = performance.now() + timeoutMs
      while ((server.openConnections() > 0 || isBusy()) && performance.now() < untilMs) await sleep(lookEveryMs)
    },
    async finish() {
      await acceptWaiting(server)
      for (const listener of bySlot.values()) listener.close()
      const patientUntilMs = performance.now() + lastRequestPatienceMs
      while (isBusy() || (server.openConnections() > 0 && performance.now() < patientUntilMs)) await sleep(lookEveryMs)
    },
  }
}

/**
 * Closing a listener resets the connections in its queue, so the queue is emptied first. A listener accepts one
 * connection in a turn of the event loop, so this waits for a turn that accepted none and was so short that hardly any
 * connection can have arrived since. A connection that the kernel completes between that turn and the closing is reset.
 * That takes microseconds, and longer if the process has to wait for a CPU: of a thousand new connections a second,
 * zero to four were lost on a busy machine. No system call stops new connections from entering the accept queue. If the
 * load balancer learns of it in time (`shutdown.delay`), none is lost.
 */
const acceptWaiting = async (server: HttpServer): Promise<void> => {
  const deadlineMs = performance.now() + acceptPatienceMs
  for (;;) {
    const startedAtMs = performance.now()
    const acceptedBefore = server.acceptedConnections()
    await nextTurn()
    const nowMs = performance.now()
    if ((server.acceptedConnections() === acceptedBefore && nowMs - startedAtMs < shortTurnMs) || nowMs > deadlineMs)
      break
  }
}
