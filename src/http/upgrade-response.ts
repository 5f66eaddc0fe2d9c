import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { nodeHttp } from '../node-http.ts'
import { endRefused } from './lingering-end.ts'

/**
 * An upgrade comes without a response object; a refusal is written through one and ends the connection. Node has taken its
 * own listeners off the socket: whatever ends a connection, but for an open WebSocket, is said here.
 */
export const upgradeResponse = (req: IncomingMessage, socket: Duplex): ServerResponse => {
  const res = new nodeHttp.ServerResponse(req)
  res.shouldKeepAlive = false
  res.assignSocket(socket as Socket)
  res.on('finish', () => {
    res.detachSocket(socket as Socket)
    endRefused(socket)
  })
  socket.on('error', () => socket.destroy())
  return res
}
