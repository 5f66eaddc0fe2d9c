import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { connectionList, endNodesLooks } from './connection-list.ts'
import { inSlices } from './in-slices.ts'

const shortestPauseMs = 10
const longestPauseMs = 1000

/** To look through ten thousand connections takes a millisecond and a half, in which nobody else is served. */
const pauseShare = 500

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
      inSlices(late.values(), ({ socket }) => {
        if (socket) onLate(socket)
      })
    }
    look()
  })
}
