import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { answerUnderWay } from './answer-under-way.ts'
import { takeTurn } from './turns.ts'

/** Why a connection ends: it waits for a request for too long, or its first one is late, whatever comes of that now. */
export type EndReason = 'idle' | 'late'

/** On a connection that waits for its end: the bytes that had come from its client by then, or that any more come too late. */
const due = Symbol('due')

type Waiting = Socket & { [due]?: number | 'late' | undefined }

/**
 * Ends a connection that has no request, soon. Where anything has come until then an idle one stays, and a late one only with a whole
 * request: bytes that begin none would hold it for ever, since nobody looks for it again.
 * @param onEnd told when it has ended by that
 */
export const endInTurn = (socket: Socket, reason: EndReason, onEnd?: () => void): void => {
  const place: Waiting = socket
  if (place[due] !== undefined) return
  place[due] = reason === 'late' ? reason : socket.bytesRead
  takeTurn(() => {
    const hasEnded = endIfDue(place)
    if (hasEnded) onEnd?.()
    return hasEnded
  })
}

/** It speaks another protocol from now on. */
export const keepOpen = (socket: Duplex & Pick<Waiting, typeof due>): void => {
  socket[due] = undefined
}

const endIfDue = (socket: Waiting): boolean => {
  const isDue = isStillDue(socket)
  socket[due] = undefined
  if (isDue) socket.destroy()
  return isDue
}

const isStillDue = (socket: Waiting): boolean => {
  if (socket[due] === undefined || socket.destroyed || answerUnderWay(socket) !== undefined) return false
  return socket[due] === 'late' ? socket.bytesWritten === 0 : socket.bytesRead === socket[due]
}
