import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** One request as its client saw it, in milliseconds of this process's clock. */
export interface Seen {
  readonly clientId: string
  readonly sentAtMs: number
  readonly answeredAtMs: number
  /** 0: the connection broke. */
  readonly status: number
  readonly retryAfter: string | undefined
}

/** Requests that go on, evenly, whatever the answers say. */
export interface SteadyLoad {
  /** Of every request that was answered so far, in the order of the answers. */
  readonly seen: readonly Seen[]
  /** Resolves when every request is answered. */
  stop(): Promise<void>
}

/** Connections that are used in turn, so that every worker gets its part of each client's load. */
const lanes = 17

/** @param perSec over all clients together, in turn */
export const startSteadyLoad = (url: string, clientIds: readonly string[], perSec: number): SteadyLoad => {
  const agents = Array.from({ length: lanes }, () => new Agent({ keepAlive: true }))
  const seen: Seen[] = []
  const underWay = new Set<Promise<void>>()
  let isRunning = true
  let sent = 0

  const sendOne = async (): Promise<void> => {
    const clientId = clientIds[sent % clientIds.length] ?? ''
    const agent = agents[sent++ % lanes]
    const sentAtMs = performance.now()
    const answer = await ask(url, clientId, agent)
    seen.push({ clientId, sentAtMs, answeredAtMs: performance.now(), ...answer })
  }
  const run = async (): Promise<void> => {
    const startedAtMs = performance.now()
    while (isRunning) {
      const due = ((performance.now() - startedAtMs) / 1000) * perSec
      while (sent < due) {
        const answered = sendOne().finally(() => underWay.delete(answered))
        underWay.add(answered)
      }
      await sleep(1)
    }
  }
  const running = run()
  return {
    seen,
    stop: async () => {
      isRunning = false
      await running
      await Promise.all(underWay)
      for (const agent of agents) agent.destroy()
    },
  }
}

const ask = (url: string, clientId: string, agent: Agent | undefined): Promise<Pick<Seen, 'status' | 'retryAfter'>> =>
  new Promise(resolve => {
    const asked = request(url, { agent, auth: `${clientId}:${secretOf(clientId)}` }, answer => {
      const { statusCode = 0, headers } = answer
      answer.resume().once('end', () => resolve({ status: statusCode, retryAfter: headers['retry-after'] }))
    })
    asked.once('error', () => resolve({ status: 0, retryAfter: undefined })).end()
  })

/** The secret that the load's clients are configured with. */
export const secretOf = (clientId: string): string => `${clientId}-secret`
