import { Agent, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Clients that send requests continuously, and the result of each request. */
export interface Load {
  readonly answers: readonly Answer[]
  readonly failures: readonly Failure[]
  /** Stops the clients after each has finished its current request. */
  stop(): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly connection: string | undefined
  readonly startedAtMs: number
  readonly endedAtMs: number
}

export interface Failure {
  /** e.g. `ECONNRESET`, or `timeout` for a client that got no answer. */
  readonly code: string
  readonly startedAtMs: number
  readonly endedAtMs: number
  /** The X-Request-Id of each earlier answer on the same connection. */
  readonly earlierIds: readonly string[]
}

export interface LoadOptions {
  readonly url: string
  /** The number of clients that keep their connection. */
  readonly keeping: number
  /** The number of clients that open a connection for each request. */
  readonly opening: number
  /** The pause of a client between an answer and its next request, in milliseconds. */
  readonly pauseMs: number
}

/** How long a client waits for an answer before the request counts as timed out, in milliseconds. */
const patienceMs = 15_000

export const startLoad = (options: LoadOptions): Load => {
  const answers: Answer[] = []
  const failures: Failure[] = []
  const idsBySocket = new WeakMap<Socket, string[]>()
  let isStopping = false

  const askOnce = async (agent: Agent): Promise<void> => {
    const startedAtMs = performance.now()
    const trace: { socket?: Socket } = {}
    try {
      const { statusCode = 0, headers } = await ask(options.url, agent, trace)
      answers.push({ status: statusCode, connection: headers.connection, startedAtMs, endedAtMs: performance.now() })
      if (trace.socket) rememberId(idsBySocket, trace.socket, String(headers['x-request-id']))
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException
      const earlierIds = (trace.socket && idsBySocket.get(trace.socket)) ?? []
      failures.push({ code, startedAtMs, endedAtMs: performance.now(), earlierIds })
    }
  }
  const runClient = async (keepAlive: boolean): Promise<void> => {
    const agent = new Agent({ keepAlive, maxSockets: 1 })
    while (!isStopping) {
      await askOnce(agent)
      await sleep(options.pauseMs)
    }
    agent.destroy()
  }

  const clients = [
    ...Array.from({ length: options.keeping }, () => runClient(true)),
    ...Array.from({ length: options.opening }, () => runClient(false)),
  ]
  return {
    answers,
    failures,
    async stop() {
      isStopping = true
      await Promise.all(clients)
    },
  }
}

const rememberId = (idsBySocket: WeakMap<Socket, string[]>, socket: Socket, id: string): void => {
  const ids = idsBySocket.get(socket)
  if (ids) ids.push(id)
  else idsBySocket.set(socket, [id])
}

const ask = (url: string, agent: Agent, trace: { socket?: Socket }): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const req = request(url, { agent, timeout: patienceMs }, res => {
      res.resume()
      res.once('end', () => resolve(res))
      res.once('error', reject)
    })
    req.once('socket', socket => {
      trace.socket = socket
    })
    req.once('timeout', () => req.destroy(Object.assign(new Error('no answer'), { code: 'timeout' })))
    req.once('error', reject)
    req.end()
  })
