import type { Server } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { HttpServer } from '../../app.ts'
import type { ListenHandle } from '../supervisor/reuseport-sockets.ts'

/** How many sockets of a worker are open. */
export interface OpenSockets {
  readonly now: number
  readonly most: number
}

/** The listening sockets of one worker and the connections that came through them. */
export interface Sockets {
  /** How many are open, and how many were at most since this was asked last. */
  count(): OpenSockets
  /** Calls back once, when another connection is accepted. A second call replaces the first. */
  onNextConnection(callback: () => void): void
  /** Accepts for a slot. The first one is the worker's own, others are lent to it. */
  listen(slot: number, handle: ListenHandle, onListening: () => void): void
  /** Stops accepting for a lent slot. */
  release(slot: number): void
  /** Stops accepting where another process accepts on; resolves when every connection has ended, or time is up. */
  retire(timeoutMs: number): Promise<void>
  /** Stops accepting, and resolves when every connection has got its answer. */
  finish(): Promise<void>
}

/** How long a connection without a request, new or kept, may take to bring one after all, in milliseconds. */
const lastRequestPatienceMs = 1000
const lookEveryMs = 10
/** Longest wait for a listener's queue to be empty, and what counts as a short turn of the event loop, in milliseconds. */
const acceptPatienceMs = 250
const shortTurnMs = 0.1

/** @param inFlight requests being answered now */
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
 * Closing a listener resets what waits in its queue, so the queue is emptied first. A listener accepts one connection in
 * a turn of the event loop: turns are awaited until one brought none and was so short that hardly any can have come since.
 * What the kernel completes between that turn and the closing is reset all the same. That takes microseconds, and longer where
 * the process has to wait for a CPU: of a thousand new connections a second none to four were lost on a busy machine. No call
 * closes a queue to new connections alone; whoever is told in time to go elsewhere (`shutdown.delay`) loses none.
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
