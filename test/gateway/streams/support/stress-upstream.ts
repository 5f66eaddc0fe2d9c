import type { Socket } from 'node:net'
import { createStressUpstream } from '../../../load/stress/upstream.ts'
import { listenLocally } from '../../../support/local-server.ts'

/** The service of the stress tests, in this process. @returns its origin */
export const startStressUpstream = async (t: { teardown(handler: () => unknown): unknown }): Promise<string> => {
  const sockets = new Set<Socket>()
  const server = createStressUpstream().on('connection', socket => sockets.add(socket))
  return `http://127.0.0.1:${await listenLocally(t, server, sockets)}`
}
