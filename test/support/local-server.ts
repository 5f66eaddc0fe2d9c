import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

interface Teardown {
  teardown(handler: () => unknown): unknown
}

interface Destroyable {
  destroy(): unknown
}

/**
 * Has a server listen on a free port of the loopback address until the test ends.
 * @param sockets its connections, which end with the test too; looked at then
 * @returns the port
 */
export const listenLocally = async (t: Teardown, server: Server, sockets: Iterable<Destroyable>): Promise<number> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
