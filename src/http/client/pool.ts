import { DenseSet } from '../../dense-set.ts'
import { Connection, type RoundTripHandler } from './connection.ts'
import type { OpenSocket } from './connector.ts'
import type { UpstreamRequest } from './request.ts'
import { type ConnectionLimits, tickMsOf } from './timeouts.ts'

/** The connections to one server. */
export interface ConnectionPool {
  /** Sends a request over an idle connection, or over a new one. */
  send(request: UpstreamRequest, handler: RoundTripHandler): Connection
  /** Sends a request over a new connection, because the server may have closed the idle ones. */
  sendFresh(request: UpstreamRequest, handler: RoundTripHandler): Connection
  /** Existing connections get no further requests, and close once their current round trip has ended. */
  retire(): void
  /** Closes all connections. Requests under way fail. */
  close(): void
}

export const createPool = (open: OpenSocket, limits: ConnectionLimits): ConnectionPool => {
  const connections = new DenseSet<Connection>()
  /** Last in, first out, so that connections that are not needed reach their idle timeout. */
  const idle: Connection[] = []
  let timer: NodeJS.Timeout | undefined

  const tick = (): void => {
    const nowMs = performance.now()
    for (const connection of connections) connection.tick(nowMs)
  }
  const openOne = (): Connection => {
    const connection = new Connection(open, limits, {
      onIdle: () => void idle.push(connection),
      onClosed: () => {
        connections.remove(place)
        const nth = idle.lastIndexOf(connection)
        if (nth >= 0) idle.splice(nth, 1)
        if (connections.size > 0) return
        clearInterval(timer)
        timer = undefined
      },
    })
    const place = connections.add(connection)
    timer ??= setInterval(tick, tickMsOf(limits)).unref()
    return connection
  }
  const sendOver = (connection: Connection, request: UpstreamRequest, handler: RoundTripHandler): Connection => {
    connection.send(request, handler)
    return connection
  }
  return {
    send: (request, handler) => sendOver(idle.pop() ?? openOne(), request, handler),
    sendFresh: (request, handler) => sendOver(openOne(), request, handler),
    retire: () => {
      for (const connection of [...connections]) connection.retire()
    },
    close: () => {
      for (const connection of [...connections]) connection.destroy()
    },
  }
}
