import type { Socket } from 'node:net'
import { answerUnderWay } from './answer-under-way.ts'

/** Some thirty microseconds each: nobody's request waits for longer than for one or two others. */
const atATime = 2

/** Between two times, in milliseconds: so that most requests come while none ends. */
const pauseMs = 1

/** Of many more so large a part at a time: however many there are, half of them have ended after a third of a second. */
const part = 1 / 512

/** On a connection that waits for its end: the bytes that had come from its client by then. */
const readBytes = Symbol('read bytes')

type Waiting = Socket & { [readBytes]?: number | undefined }

/** The first one ends first. */
const waiting: Waiting[] = []

/**
 * Ends a connection that has no request, soon; where anything has come until then it stays. Those that came together are late
 * together: ten thousand at once would hold up everything else for a third of a second.
 */
export const endInTurn = (socket: Socket): void => {
  const place: Waiting = socket
  if (place[readBytes] !== undefined) return
  place[readBytes] = socket.bytesRead
  if (waiting.push(place) === 1) setTimeout(endSome, pauseMs)
}

const endSome = (): void => {
  const most = Math.max(atATime, waiting.length * part)
  for (let ended = 0; ended < most; ) {
    const socket = waiting.shift()
    if (socket === undefined) return
    // An answer under way would be cut, and so would a WebSocket, which has none.
    const isSilent = socket.bytesRead === socket[readBytes] && answerUnderWay(socket) === undefined
    socket[readBytes] = undefined
    if (!isSilent) continue
    socket.destroy()
    ended++
  }
  if (waiting.length > 0) setTimeout(endSome, pauseMs)
}
