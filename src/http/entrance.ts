import type { Server, Socket } from 'node:net'

/** A connection that was accepted, and of which there is no socket yet. */
export interface Handle {
  /** Called with what comes at the beginning of a buffer, and with undefined when nothing more does. A socket takes its place. */
  onread: (this: this, buffer: ArrayBuffer | undefined) => void
  /** How many bytes have come, of all buffers. */
  readonly bytesRead: number
  /** Whether it is being read, for the socket to know. */
  reading: boolean
  /** @returns 0, or what is wrong as an errno */
  readStart(): number
  close(): void
}

/** The way of connections into a listener. A held one is counted as any other, so that `maxConnections` holds. */
export interface Entrance<Held extends Handle> {
  hold(): void
  /** Makes the socket of a held one, and tells the listener of it. Undefined where it has ended at once. */
  admit(handle: Held): Socket | undefined
  /** Ends a held one. */
  close(handle: Held): void
}

/** What a listener of Node's is made of. There are no public names for any of it. */
type Listener = Server & {
  readonly _handle: { onconnection?: Accept } | null
  _connections: number
  _emitCloseIfDrained(): void
}

/** Makes a socket, or an error of an errno that is not 0. */
type Accept = (errno: number, handle: Handle) => void

/**
 * Has connections come before there are sockets of them, from when the listener listens. Where Node has other names for what that takes,
 * it never happens, and each is a socket at once.
 * @param onConnection told of each that there is room for
 */
export const openEntrance = <Held extends Handle>(
  server: Server,
  onConnection: (handle: Held, entrance: Entrance<Held>) => void,
): void => {
  const listener = server as Listener
  let latest: Socket | undefined
  listener.on('connection', socket => {
    latest = socket
  })
  const takeLatest = (): Socket | undefined => {
    const socket = latest
    latest = undefined
    return socket
  }
  listener.on('listening', () => {
    const listening = listener._handle
    if (!listening?.onconnection) return
    const accept = listening.onconnection.bind(listening)
    const entrance: Entrance<Held> = {
      hold() {
        listener._connections++
      },
      admit(handle) {
        listener._connections--
        // A listener may be told of sockets that came in elsewhere.
        takeLatest()
        accept(0, handle)
        const socket = takeLatest()
        return socket?.destroyed ? undefined : socket
      },
      close(handle) {
        listener._connections--
        handle.close()
        listener._emitCloseIfDrained()
      },
    }
    listening.onconnection = (errno, handle) => {
      if (errno !== 0 || isFull(listener)) accept(errno, handle)
      else onConnection(handle as Held, entrance)
    }
  })
}

const isFull = ({ maxConnections, _connections }: Listener): boolean =>
  maxConnections !== undefined && _connections >= maxConnections
