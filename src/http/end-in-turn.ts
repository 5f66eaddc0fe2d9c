import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { answerUnderWay } from './answer-under-way.ts'

/** Some thirty microseconds each: of up to a thousand, nobody's request waits for longer than for one or two others. */
const atATime = 2

/** Between two times, in milliseconds: so that most requests come while none ends. */
const pauseMs = 1

/** Of many more so large a part at a time: however many there are, half of them have ended after a third of a second. */
const part = 1 / 512

/** Why a connection ends: it waits for a request for too long, or its first one is late, whatever comes of that now. */
export type EndReason = 'idle' | 'late'

/** On a connection that waits for its end: the bytes that had come from its client by then, or that any more come too late. */
const due = Symbol('due')

type Waiting = Socket & { [due]?: number | 'late' | undefined }

/** The first one ends first. */
const waiting: Waiting[] = []

/**
 * Ends a connection that has no request, soon. Where anything has come until then an idle one stays, and a late one only with a whole
 * request: bytes that begin none would hold it for ever, since nobody looks for it again. Those that came together are late
 * together: ten thousand at once would hold up everything else for a third of a second.
 */
export const endInTurn = (socket: Socket, reason: EndReason): void => {
  const place: Waiting = socket
  if (place[due] !== undefined) return
  place[due] = reason === 'late' ? reason : socket.bytesRead
  if (waiting.push(place) === 1) setTimeout(endSome, pauseMs)
}

/** It speaks another protocol from now on. */
export const keepOpen = (socket: Duplex & Pick<Waiting, typeof due>): void => {
  socket[due] = undefined
}

const endSome = (): void => {
  const most = Math.max(atATime, waiting.length * part)
  for (let ended = 0; ended < most; ) {
    const socket = waiting.shift()
    if (socket === undefined) return
    const isDue = isStillDue(socket)
    socket[due] = undefined
    if (!isDue) continue
    socket.destroy()
    ended++
  }
  if (waiting.length > 0) setTimeout(endSome, pauseMs)
}

const isStillDue = (socket: Waiting): boolean => {
  if (socket[due] === undefined || answerUnderWay(socket) !== undefined) return false
  return socket[due] === 'late' ? socket.bytesWritten === 0 : socket.bytesRead === socket[due]
}
