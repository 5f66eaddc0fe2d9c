import { connect, createServer, type Socket } from 'node:net'
import { listenLocally } from './local-server.ts'

/** A network to a port of this machine that may fall silent: connections stay, new ones are made, and nothing comes. */
export interface SilentProxy {
  readonly port: number
  /** Hands nothing on, in either direction, until `speak`. */
  fallSilent(): void
  /** Hands on what came meanwhile, as TCP does, and what comes from now on. */
  speak(): void
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

export const startSilentProxy = async (t: Teardown, targetPort: number): Promise<SilentProxy> => {
  const sockets = new Set<Socket>()
  let isSilent = false
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    socket.setNoDelay().on('error', () => undefined)
    if (isSilent) socket.pause()
    return socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer(near => {
    const far = keep(connect(targetPort, '127.0.0.1'))
    handOn(keep(near), far)
    handOn(far, near)
  })
  const port = await listenLocally(t, server, sockets)
  return {
    port,
    fallSilent: () => {
      isSilent = true
      for (const socket of sockets) socket.pause()
    },
    speak: () => {
      isSilent = false
      for (const socket of sockets) socket.resume()
    },
  }
}

const handOn = (from: Socket, to: Socket): void => {
  from.on('data', chunk => to.write(chunk))
  from.on('close', () => to.destroy())
}
