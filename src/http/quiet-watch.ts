import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Roll } from '../roll.ts'
import { answerUnderWay } from './answer-under-way.ts'
import { endInTurn, keepOpen } from './end-in-turn.ts'
import { inSlices } from './in-slices.ts'

/** How long nothing may move on a connection, in milliseconds. */
export interface QuietLimits {
  /** Of one that waits for its next request, as it was told. For its first one it waits as long as for any header. */
  readonly idleMs: number
  /** Of one whose client has yet to take what was written. One whose answer is not ready has limits elsewhere. */
  readonly stalledMs: number
}

/** Ends connections on which nothing moves, for as long as there are any. */
export interface QuietWatch {
  add(socket: Socket): void
  /** It speaks another protocol from now on, and may be silent for as long as that allows. */
  upgraded(socket: Duplex): void
}

/** What had moved when a connection was looked at, and since when that is all. */
interface Watched {
  readonly socket: Socket
  movedBytes: number
  queuedBytes: number
  sinceMs: number
}

/** A connection stays open for longer than its client was told: a request that was sent in time may still be on its way. */
const graceMs = 1000

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
  const stepMs = Math.max(1, Math.min(longestRoundMs, idleMs / looks, stalledMs / looks) / steps)
  let timer: NodeJS.Timeout | undefined
  let added = 0
  let open = 0
  let step = 0

  const look = (watched: Watched, nowMs: number): void => {
    const { socket } = watched
    const { movedBytes, queuedBytes, hasAnswered } = stateOf(socket)
    if (movedBytes !== watched.movedBytes || queuedBytes !== watched.queuedBytes) {
      watched.movedBytes = movedBytes
      watched.queuedBytes = queuedBytes
      watched.sinceMs = nowMs
    } else if (answerUnderWay(socket) === undefined) {
      if (hasAnswered && nowMs - watched.sinceMs >= idleMs + graceMs && !otherwise.has(socket))
        endInTurn(socket, 'idle')
    } else if (socket.writableLength > 0 && nowMs - watched.sinceMs >= stalledMs) {
      socket.destroy()
      onStalled()
    }
  }
  const takeStep = (): void => {
    const nowMs = performance.now()
    inSlices((rolls[step++ % steps] as Roll<Watched>)[Symbol.iterator](), watched => look(watched, nowMs))
  }
  return {
    add: socket => {
      const roll = rolls[added++ % steps] as Roll<Watched>
      const place = roll.enter({ socket, movedBytes: 0, queuedBytes: 0, sinceMs: performance.now() })
      open++
      timer ??= setInterval(takeStep, stepMs).unref()
      socket.on('close', () => {
        roll.leave(place)
        open--
        if (open > 0) return
        clearInterval(timer)
        timer = undefined
      })
    },
    upgraded: socket => {
      otherwise.add(socket)
      keepOpen(socket)
    },
  }
}

/**
 * What came and went, and what the system has yet to take of that. There are no public names for it that would not add up what
 * else is written; a connection that has ended has none.
 */
const stateOf = (socket: Socket): { movedBytes: number; queuedBytes: number; hasAnswered: boolean } => {
  const { _handle } = socket as Socket & { readonly _handle: Handle | null }
  if (_handle === null) return ended
  const { bytesRead, bytesWritten, writeQueueSize } = _handle
  return { movedBytes: bytesRead + bytesWritten, queuedBytes: writeQueueSize, hasAnswered: bytesWritten > 0 }
}

const ended = { movedBytes: 0, queuedBytes: 0, hasAnswered: false }

interface Handle {
  readonly bytesRead: number
  readonly bytesWritten: number
  readonly writeQueueSize: number
}
