import type { Socket } from 'node:net'
import { answerUnderWay } from './answer-under-way.ts'

/** Some ten microseconds each: nobody's request waits for longer than for one or two others. */
const atATime = 4

/** On a connection that waits for its end: the bytes that had come from its client by then. */
const readBytes = Symbol('read bytes')

type Waiting = Socket & { [readBytes]?: number | undefined }

/** The first one ends first. */
const waiting: Waiting[] = []

/**
 * Ends a connection that has no request, after some turns of the event loop; where anything has come until then it stays. Those
 * that came together are late together: ten thousand at once would hold up everything else for a tenth of a second.
 */
export const endInTurn = (socket: Socket): void => {
  const place: Waiting = socket
  if (place[readBytes] !== undefined) return
  place[readBytes] = socket.bytesRead
  if (waiting.push(place) === 1) setImmediate(endSome)
}

const endSome = (): void => {
  for (let ended = 0; ended < atATime; ) {
    const socket = waiting.shift()
    if (socket === undefined) return
    // An answer under way would be cut, and so would a WebSocket, which has none.
    const isSilent = socket.bytesRead === socket[readBytes] && answerUnderWay(socket) === undefined
    socket[readBytes] = undefined
    if (!isSilent) continue
    socket.destroy()
    ended++
  }
  if (waiting.length > 0) setImmediate(endSome)
}
