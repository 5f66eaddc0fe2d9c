import { once } from 'node:events'
import { connect } from 'node:net'
import { findFreePort } from '../support/free-port.ts'
import { cores, type Programs } from './program.ts'

/** Starts a Redis that keeps nothing on disk, on the load's core. Resolves to its URL. */
export const startRedis = async (programs: Programs): Promise<string> => {
  const port = await findFreePort()
  await programs.start({
    name: 'redis-server',
    core: cores.load,
    command: ['redis-server', '--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    readyWhen: () => accepts(port),
  })
  return `redis://127.0.0.1:${port}`
}

const accepts = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
