import net, { type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { TrafficServer } from '../app.ts'
import { Roll } from '../roll.ts'
import type { ListenHandle } from './listeners.ts'

/** How many sockets of a worker are open. */
export interface OpenSockets {
  readonly now: number
  readonly most: number
}

/** The listening sockets of one worker and the connections that came through them. */
export interface Sockets {
  /** How many are open, with TLS two for each connection, and how many were at most since this was asked last. */
  count(): OpenSockets
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
export const createSockets = ({ server, newcomers }: TrafficServer, inFlight: () => number): Sockets => {
  const bySlot = new Map<number, net.Server>()
  const open = new Roll<Socket>()
  let most = 0
  const remember = (socket: Socket): void => {
    const place = open.enter(socket)
    most = Math.max(most, openNow())
    socket.on('close', () => open.leave(place))
  }
  server.on('connection', remember)
  // With TLS what still has to be written waits in another socket, on top of the one that was accepted.
  server.on('secureConnection', remember)
  const openNow = (): number => open.size + newcomers.count()
  const isBusy = (): boolean => inFlight() > 0 || [...open].some(socket => socket.writableLength > 0)

  return {
    count() {
      const now = openNow()
      const counted = { now, most: Math.max(now, most) }
      most = now
      return counted
    },
    listen(slot, handle, onListening) {
      const listener = bySlot.size === 0 ? server : lentServer(server, newcomers)
      bySlot.set(slot, listener)
      listener.listen(handle, onListening)
    },
    release(slot) {
      const listener = bySlot.get(slot)
      if (listener === undefined || listener === server) return
      listener.close()
      bySlot.delete(slot)
    },
    async retire(timeoutMs) {
      for (const listener of bySlot.values()) stopAccepting(listener)
      const untilMs = performance.now() + timeoutMs
      while ((openNow() > 0 || isBusy()) && performance.now() < untilMs) await sleep(lookEveryMs)
    },
    async finish() {
      await acceptWaiting(newcomers)
      for (const listener of bySlot.values()) stopAccepting(listener)
      const patientUntilMs = performance.now() + lastRequestPatienceMs
      while (isBusy() || (openNow() > 0 && performance.now() < patientUntilMs)) await sleep(lookEveryMs)
    },
  }
}

/** Not by the HTTP server's own close(), which at once ends connections that have not brought a request yet. */
const stopAccepting = (listener: net.Server): void => void net.Server.prototype.close.call(listener)

/** A lent listener hands its connections to the worker's one server. */
const lentServer = (server: Server, newcomers: TrafficServer['newcomers']): net.Server => {
  const lent = net.createServer({ noDelay: true, allowHalfOpen: true }, (socket: Socket) => {
    server.emit('connection', socket)
  })
  newcomers.receive(lent)
  return lent
}

/**
 * Closing a listener resets what waits in its queue, so the queue is emptied first. A listener accepts one connection in
 * a turn of the event loop: turns are awaited until one brought none and was so short that hardly any can have come since.
 * What the kernel completes between that turn and the closing is reset all the same. That takes microseconds, and longer where
 * the process has to wait for a CPU: of a thousand new connections a second none to four were lost on a busy machine. No call
 * closes a queue to newcomers alone; whoever is told in time to go elsewhere (`shutdown.delay`) loses none.
 */
const acceptWaiting = async (newcomers: TrafficServer['newcomers']): Promise<void> => {
  const deadlineMs = performance.now() + acceptPatienceMs
  for (;;) {
    const startedAtMs = performance.now()
    const acceptedBefore = newcomers.accepted()
    await nextTurn()
    const nowMs = performance.now()
    if ((newcomers.accepted() === acceptedBefore && nowMs - startedAtMs < shortTurnMs) || nowMs > deadlineMs) break
  }
}
