import type { Duplex } from 'node:stream'
import { answerUnderWay } from './answer-under-way.ts'

/** Less than what a request costs in all, so that nobody's waits for longer than for one more of those. */
const atATime = 4

const waiting: Duplex[] = []

/**
 * Ends a connection that has no request, after some turns of the event loop; where one has come until then it stays. Those
 * that came together are late together: ten thousand at once would hold up everything else for a quarter of a second.
 */
export const endInTurn = (socket: Duplex): void => {
  if (waiting.push(socket) === 1) setImmediate(endSome)
}

const endSome = (): void => {
  for (let looked = 0; looked < atATime; looked++) {
    const socket = waiting.pop()
    if (socket !== undefined && answerUnderWay(socket) === undefined) socket.destroy()
  }
  if (waiting.length > 0) setImmediate(endSome)
}
