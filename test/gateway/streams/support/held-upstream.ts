import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { listenLocally } from '../../../support/local-server.ts'

/** A service that says what the test lets it say, byte by byte. */
export interface HeldUpstream {
  readonly url: string
  /** The connection of the next request, once its header has come. */
  next(): Promise<Socket>
  openConnections(): number
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** @param tls certificate and key in PEM; left out: plain HTTP */
export const startHeldUpstream = async (
  t: Teardown,
  tls?: { readonly cert: string; readonly key: string },
): Promise<HeldUpstream> => {
  const sockets = new Set<Socket>()
  const asked: Socket[] = []
  const onConnection = (socket: Socket): void => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    let head = ''
    socket.on('data', chunk => {
      head += chunk
      if (!head.includes('\r\n\r\n')) return
      head = ''
      asked.push(socket)
      server.emit('asked')
    })
  }
  const server = tls ? createTlsServer(tls, onConnection) : createServer(onConnection)
  const port = await listenLocally(t, server, sockets)
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    async next() {
      for (;;) {
        const socket = asked.shift()
        if (socket) return socket
        await once(server, 'asked')
      }
    },
    openConnections: () => sockets.size,
  }
}
