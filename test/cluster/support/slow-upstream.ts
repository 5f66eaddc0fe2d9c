import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A service that answers requests only when the test calls `answerAll`. */
export interface SlowUpstream {
  /** e.g. `http://127.0.0.1:41234` */
  readonly url: string
  /** The number of requests that wait for their answer. */
  waiting(): number
  /** Answers them all with 200 and this body. */
  answerAll(body?: string): void
}

export const startSlowUpstream = async (t: { teardown(handler: () => unknown): unknown }): Promise<SlowUpstream> => {
  let waiting: ServerResponse[] = []
  const server = createServer((_req, res) => void waiting.push(res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    waiting: () => waiting.length,
    answerAll(body = 'done') {
      for (const res of waiting) res.end(body)
      waiting = []
    },
  }
}

/** A configuration that publishes the service at `/slow`, without credentials and without a plan. */
export const publishing = (upstream: SlowUpstream) => ({
  groupings: [
    {
      name: 'Slow',
      upstream: 'slow',
      operations: [{ method: 'GET', path: '/slow', credentials: 'none', plan: 'none' }],
    },
  ],
  upstreams: { slow: { targets: [upstream.url] } },
})
