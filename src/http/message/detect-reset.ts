import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** The TCP sockets below TLS ones. */
const transports = new WeakMap<Socket, Socket>()

/** Must be called with a TLS socket and the TCP socket below it. */
export const setTransport = (socket: Socket, transport: Socket): void => void transports.set(socket, transport)

/**
 * Destroys a socket that its peer has reset while it is not read. Node emits no event for that, but a write of no bytes
 * fails. A TLS socket hides that error, so the write goes to the TCP socket below it.
 */
export const detectReset = (socket: Socket): void => {
  // A pending write fails by itself.
  if (socket.destroyed || socket.writableLength > 0) return
  const written = socket instanceof TLSSocket ? transports.get(socket) : socket
  if (written?.writable) written.write('')
}
