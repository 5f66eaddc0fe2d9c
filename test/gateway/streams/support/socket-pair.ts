import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** The two ends of one TCP connection. */
export interface SocketPair {
  /** Ours, half-open as the sockets of an HTTP server are. */
  readonly near: Socket
  readonly far: Socket
  /** The bytes that have arrived at the far end. */
  readonly received: () => Buffer
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

export const openSocketPair = async (t: Teardown): Promise<SocketPair> => {
  const server = createServer({ allowHalfOpen: true, noDelay: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const far = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true })
  const [near] = (await once(server, 'connection')) as [Socket]
  server.close()
  const chunks: Buffer[] = []
  far.on('data', (chunk: Buffer) => chunks.push(chunk))
  for (const socket of [near, far]) socket.on('error', () => socket.destroy())
  t.teardown(() => {
    near.destroy()
    far.destroy()
  })
  return { near, far, received: () => Buffer.concat(chunks) }
}
