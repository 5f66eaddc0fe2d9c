import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { answerUnderWay } from './answer-under-way.ts'
import { type Connection, connectionList, endNodesLooks } from './connection-list.ts'
import { inSlices } from './in-slices.ts'

const shortestPauseMs = 10
const longestPauseMs = 1000

/** To look through ten thousand connections takes a millisecond and a half, in which nobody else is served. */
const pauseShare = 500

/** A connection that is late, and how far it had come when that was found. */
interface Verdict {
  readonly socket: Socket
  readonly answer: ServerResponse | undefined
  readonly writtenBytes: number
}

/** At once: a connection that closes gives back its parser, and the next one gets it. */
const toVerdict = ({ socket }: Connection): readonly Verdict[] =>
  socket ? [{ socket, answer: answerUnderWay(socket), writtenBytes: socket.bytesWritten }] : []

/** Since it was found late: the rest came just then. Its next request is looked for anew. */
const hasBeenAnswered = ({ socket, answer, writtenBytes }: Verdict): boolean => {
  const answerNow = answerUnderWay(socket)
  return socket.bytesWritten !== writtenBytes && (answerNow === undefined || answerNow !== answer)
}

/**
 * Finds the connections whose request takes too long to come, as the server's own limits say. Node looks through all as well, in equal
 * pauses, and makes an error for each; where its list of connections cannot be had, that is what finds them.
 * @param onLate told of each once
 */
export const watchLateRequests = (server: Server, onLate: (socket: Socket) => void): void => {
  server.once('listening', () => {
    const list = connectionList(server)
    if (list === undefined) return
    server.on('listening', () => endNodesLooks(server))
    endNodesLooks(server)
    const look = (): void => {
      const startedAtMs = performance.now()
      const late = list.expired(server.headersTimeout, server.requestTimeout)
      const tookMs = performance.now() - startedAtMs
      setTimeout(look, Math.min(longestPauseMs, Math.max(shortestPauseMs, tookMs * pauseShare))).unref()
      inSlices(late.flatMap(toVerdict).values(), verdict => {
        if (!hasBeenAnswered(verdict)) onLate(verdict.socket)
      })
    }
    look()
  })
}
