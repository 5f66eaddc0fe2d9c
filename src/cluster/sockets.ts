import type { Server } from 'node:http'
import net, { type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { ListenHandle } from './listeners.ts'

/** The listening sockets of one worker and the connections that came through them. */
export interface Sockets {
  /** Accepts for a slot. The first one is the worker's own, others are lent to it. */
  listen(slot: number, handle: ListenHandle, onListening: () => void): void
  /** Stops accepting for a lent slot. */
  release(slot: number): void
  /** Stops accepting, and resolves when every connection has got its answer. */
  finish(): Promise<void>
}

/** How long a connection that was accepted just before the end may take to bring its request, in milliseconds. */
const firstRequestPatienceMs = 500
const lookEveryMs = 10

/** @param inFlight requests being answered now */
export const createSockets = (server: Server, inFlight: () => number): Sockets => {
  const bySlot = new Map<number, net.Server>()
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  const isBusy = (): boolean => inFlight() > 0 || [...open].some(socket => socket.writableLength > 0)

  return {
    listen(slot, handle, onListening) {
      const listener = bySlot.size === 0 ? server : lentServer(server)
      bySlot.set(slot, listener)
      listener.listen(handle, onListening)
    },
    release(slot) {
      const listener = bySlot.get(slot)
      if (listener === undefined || listener === server) return
      listener.close()
      bySlot.delete(slot)
    },
    async finish() {
      await acceptWaiting()
      for (const listener of bySlot.values()) listener.close()
      const patientUntilMs = performance.now() + firstRequestPatienceMs
      while (isBusy() || (open.size > 0 && performance.now() < patientUntilMs)) {
        server.closeIdleConnections()
        await sleep(lookEveryMs)
      }
    },
  }
}

/** A lent listener hands its connections to the worker's one HTTP server. */
const lentServer = (server: Server): net.Server =>
  net.createServer({ noDelay: true, allowHalfOpen: true }, (socket: Socket) => void server.emit('connection', socket))

/**
 * Closing a listener resets what waits in its queue, so the queue is emptied first: in a turn of the event loop for
 * what is there now, then in quick ones, with nothing else to do, for what came meanwhile.
 */
const acceptWaiting = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await nextTurn()
}
