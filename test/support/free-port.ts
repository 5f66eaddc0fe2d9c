import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below Linux's ports for outgoing connections: a connection of another test could have taken one of them by then. */
const lowest = 10_240
const highest = 32_767

/** A free port of 127.0.0.1, for programs that cannot choose one themselves, as port 0 would have them do. */
export const findFreePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(lowest, highest + 1)
    if (await isFree(port)) return port
  }
}

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
