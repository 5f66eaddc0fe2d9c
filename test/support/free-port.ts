import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that Linux gives to outgoing connections: one of these, of a test beside this one, could have taken it by then. */
const lowest = 10_240
const highest = 32_767

/** A port of 127.0.0.1 that nobody listens on now: for programs that cannot be told to take any, as port 0 does. */
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
