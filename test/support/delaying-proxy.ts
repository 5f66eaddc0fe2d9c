import { connect, createServer, type Socket } from 'node:net'
import { listenLocally } from './local-server.ts'

/** A network with a long way to a port of this machine. */
export interface DelayingProxy {
  readonly port: number
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** Hands on what comes, in both directions half of `roundTripMs` later. */
export const startDelayingProxy = async (
  t: Teardown,
  targetPort: number,
  roundTripMs: number,
): Promise<DelayingProxy> => {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => sockets.add(socket) && socket.setNoDelay().on('error', () => undefined)
  const server = createServer(near => {
    const far = keep(connect(targetPort, '127.0.0.1'))
    handOn(keep(near), far, roundTripMs / 2)
    handOn(far, near, roundTripMs / 2)
  })
  const port = await listenLocally(t, server, sockets)
  return { port }
}

const handOn = (from: Socket, to: Socket, delayMs: number): void => {
  from.on('data', chunk => setTimeout(() => to.write(chunk), delayMs))
  from.on('close', () => setTimeout(() => to.destroy(), delayMs))
}
