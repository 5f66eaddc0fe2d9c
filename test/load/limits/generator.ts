import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { type Connections, connect } from './connections.ts'
import { clientSecret } from './plan.ts'
import { type Answer, nowMs } from './trace.ts'
import type { Send } from './traffic.ts'

/** Where to send what, and when. */
export interface Job {
  /** The origins of the pods that requests go to now; each has as many connections as another. */
  readonly urls: () => readonly string[]
  readonly sends: readonly Send[]
  /** The instant of the plan's millisecond 0, by `nowMs`. */
  readonly startAtMs: number
  /** A request that could not be sent until then is not sent at all. */
  readonly endAtMs: number
  /** Of requests under way, when that many are the next one waits. */
  readonly mostUnderWay: number
  readonly signal: AbortSignal
}

/**
 * Timers are exact enough up to this pause. After a longer one the generator meets the instant to a fraction of a
 * millisecond.
 */
const loneAfterMs = 50
const timerFaultMs = 2

/**
 * Sends each request at its planned instant, whatever the answers are (an open loop), and resolves when all requests
 * were answered or given up. Throws when `signal` ends it.
 */
export const generate = async (job: Job): Promise<readonly Answer[]> => {
  const connections = await connect(job.urls, job.mostUnderWay)
  try {
    return await sendAll(job, connections)
  } finally {
    await connections.close()
  }
}

const sendAll = async (job: Job, connections: Connections): Promise<readonly Answer[]> => {
  const { sends, startAtMs, endAtMs, signal } = job
  const answers: Answer[] = []
  const headersOf = rememberHeaders()
  let next = 0
  let underWay = 0

  const sendDue = (): void => {
    while (connections.hasRoom()) {
      const send = sends[next]
      const sentAtMs = nowMs()
      if (!send || startAtMs + send.atMs > sentAtMs || sentAtMs >= endAtMs) return
      next++
      underWay++
      connections.ask(headersOf(send.client), told => {
        answers.push({ client: send.client, sentAtMs, ...told })
        underWay--
        sendDue()
      })
    }
  }

  while (next < sends.length && nowMs() < endAtMs) {
    await waitUntil(startAtMs + (sends[next]?.atMs ?? 0), signal)
    sendDue()
  }
  while (underWay > 0) await sleep(5, undefined, { signal })
  return answers
}

const waitUntil = async (atMs: number, signal: AbortSignal): Promise<void> => {
  const leftMs = atMs - nowMs()
  if (leftMs < loneAfterMs) return sleep(Math.max(1, Math.ceil(leftMs)), undefined, { signal })
  await sleep(leftMs - timerFaultMs, undefined, { signal })
  while (nowMs() < atMs) await turn()
}

/** The header fields of each client's requests, made once. */
const rememberHeaders = (): ((client: string) => Readonly<Record<string, string>>) => {
  const known = new Map<string, Readonly<Record<string, string>>>()
  return client => {
    const found = known.get(client)
    if (found) return found
    const made = { authorization: `Basic ${Buffer.from(`${client}:${clientSecret}`).toString('base64')}` }
    known.set(client, made)
    return made
  }
}
