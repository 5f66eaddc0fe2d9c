import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { findFreePort } from '../support/free-port.ts'
import { root } from './markdown.ts'

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** The service that `npm start` runs behind the gateway, on a port of its own until the test ends. Its origin. */
export const startDemoUpstream = async (t: Teardown): Promise<string> => {
  const origin = `http://127.0.0.1:${await findFreePort()}`
  const child = fork(join(root, 'src/demo/upstream.ts'), [origin])
  t.teardown(() => child.kill('SIGKILL'))
  const [message] = await once(child, 'message')
  if ('failed' in message) throw new Error(`the demo upstream cannot listen on ${origin}: ${message.failed}`)
  return origin
}
