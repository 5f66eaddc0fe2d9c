import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Roll } from '../roll.ts'
import { answerUnderWay } from './answer-under-way.ts'

/** How long nothing may move on a connection, in milliseconds. */
export interface QuietLimits {
  /** Of one that waits for its next request. */
  readonly idleMs: number
  /** Of one whose client has yet to take what was written. One whose answer is not ready has limits elsewhere. */
  readonly stalledMs: number
}

/** Ends connections on which nothing moves. */
export interface QuietWatch {
  add(socket: Socket): void
  /** It speaks another protocol from now on, and may be silent for as long as that allows. */
  upgraded(socket: Duplex): void
  close(): void
}

/** What had moved when a connection was looked at, and since when that is all. */
interface Watched {
  readonly socket: Socket
  movedBytes: number
  queuedBytes: number
  sinceMs: number
}

/** Each connection is looked at so often within the shorter limit, or once a second. */
const looks = 4
const longestRoundMs = 1000

/** A round is so many steps: ten thousand connections at once would hold up everything else for milliseconds. */
const steps = 20

/**
 * Looks at each connection now and then. A timer for each, as Node has them, would be set, moved and taken back with every
 * request, for a thirtieth of all the time that it takes; here a request costs nothing.
 *
 * @param onStalled told of each that was ended because its client took nothing
 */
export const createQuietWatch = ({ idleMs, stalledMs }: QuietLimits, onStalled: () => void): QuietWatch => {
  const rolls = Array.from({ length: steps }, () => new Roll<Watched>())
  const otherwise = new WeakSet<Duplex>()
  let added = 0
  let step = 0

  const look = (watched: Watched, nowMs: number): void => {
    const { socket } = watched
    const movedBytes = socket.bytesRead + socket.bytesWritten
    const queuedBytes = queuedIn(socket)
    if (movedBytes !== watched.movedBytes || queuedBytes !== watched.queuedBytes) {
      watched.movedBytes = movedBytes
      watched.queuedBytes = queuedBytes
      watched.sinceMs = nowMs
    } else if (answerUnderWay(socket) === undefined) {
      if (nowMs - watched.sinceMs >= idleMs && !otherwise.has(socket)) socket.destroy()
    } else if (socket.writableLength > 0 && nowMs - watched.sinceMs >= stalledMs) {
      socket.destroy()
      onStalled()
    }
  }
  const lookAtSome = (): void => {
    const nowMs = performance.now()
    for (const watched of rolls[step++ % steps] as Roll<Watched>) look(watched, nowMs)
  }
  const roundMs = Math.min(longestRoundMs, idleMs / looks, stalledMs / looks)
  const timer = setInterval(lookAtSome, Math.max(1, roundMs / steps)).unref()
  return {
    add: socket => {
      const roll = rolls[added++ % steps] as Roll<Watched>
      const place = roll.enter({ socket, movedBytes: 0, queuedBytes: 0, sinceMs: performance.now() })
      socket.once('close', () => roll.leave(place))
    },
    upgraded: socket => void otherwise.add(socket),
    close: () => clearInterval(timer),
  }
}

/** What the system has yet to take of what was written; there is no public name for it. `bytesWritten` counts it already. */
const queuedIn = (socket: Socket): number =>
  (socket as Socket & { readonly _handle: { readonly writeQueueSize: number } | null })._handle?.writeQueueSize ?? 0
