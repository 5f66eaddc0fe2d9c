import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { connectionList } from './connection-list.ts'

/** Connections that came together are late together: the fewer at a time, the less others wait for their end. */
const shortestPauseMs = 10
const longestPauseMs = 500

/** To look through ten thousand connections takes half a millisecond: no more than a hundredth of all time goes to that. */
const pauseShare = 100

/**
 * Finds the connections whose request takes too long to come, as the server's own limits say. Node looks through all as well, in equal
 * pauses, and makes an error for each; where its list of connections cannot be had, that is what finds them.
 * @param onLate told of each once
 */
export const watchLateRequests = (server: Server, onLate: (socket: Socket) => void): void => {
  server.once('listening', () => {
    const list = connectionList(server)
    if (list === undefined) return
    const look = (): void => {
      const startedAtMs = performance.now()
      const late = list.expired(server.headersTimeout, server.requestTimeout)
      const tookMs = performance.now() - startedAtMs
      setTimeout(look, Math.min(longestPauseMs, Math.max(shortestPauseMs, tookMs * pauseShare))).unref()
      for (const { socket } of late) if (socket) onLate(socket)
    }
    look()
  })
}
