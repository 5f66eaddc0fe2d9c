import { Client, type Dispatcher } from 'undici'
import { type Answer, arrivalField, nowMs } from './trace.ts'

/** The part of an answer that is known when it arrives. */
type Told = Pick<Answer, 'outcome' | 'decidedByMs' | 'answeredAtMs'>

/** Connections that are kept open and take turns, so that every worker gets its part. */
export interface Connections {
  /** Whether another request may be under way. */
  hasRoom(): boolean
  /** Sends at once; only where there is room. */
  ask(headers: Readonly<Record<string, string>>, done: (told: Told) => void): void
  close(): Promise<void>
}

/**
 * A request that is not answered by then is given up, in milliseconds. It is approximate, because undici's timers are
 * coarse.
 */
const patienceMs = 5000

/** So many are open before the first request; more where the load asks for them. */
const openAtFirst = 128

/** The operation under the plan, and one that is not. */
export const paths = { planned: '/planned', open: '/open' } as const

/** One connection, and the pod that it leads to. */
interface Line {
  readonly client: Client
  readonly url: string
}

/**
 * Resolves when the first connections are open, and have carried a request that no plan counts. Throws if one of
 * these requests was not answered.
 * @param urls of the pods that requests are sent to; called again for each request
 */
export const connect = async (urls: () => readonly string[], most: number): Promise<Connections> => {
  const lines = new Set<Line>()
  let opened = 0
  const open = (): Line => {
    const pods = urls()
    const url = pods[opened++ % pods.length] ?? ''
    const client = new Client(url, {
      pipelining: 1,
      headersTimeout: patienceMs,
      bodyTimeout: patienceMs,
      keepAliveTimeout: 60_000,
    })
    const line = { client, url }
    lines.add(line)
    return line
  }
  const first = Array.from({ length: Math.min(openAtFirst, most) }, open)
  const told = await Promise.all(first.map(line => new Promise<Told>(done => exchange(line, paths.open, {}, done))))
  if (told.some(({ outcome }) => outcome !== 'admitted')) throw new Error(`${urls().join(' and ')} did not serve`)
  const idle = [...first]
  /** One that leads where requests go now; those to a pod that is leaving end. */
  const takeIdle = (): Line | undefined => {
    for (let line = idle.shift(); line !== undefined; line = idle.shift()) {
      if (urls().includes(line.url)) return line
      lines.delete(line)
      void line.client.destroy()
    }
    return undefined
  }
  return {
    hasRoom: () => idle.length > 0 || lines.size < most,
    ask: (headers, done) => {
      const line = takeIdle() ?? open()
      exchange(line, paths.planned, headers, told => {
        idle.push(line)
        done(told)
      })
    },
    close: async () => void (await Promise.all([...lines].map(({ client }) => client.destroy()))),
  }
}

const exchange = (
  { client }: Line,
  path: string,
  headers: Readonly<Record<string, string>>,
  done: (told: Told) => void,
): void => {
  let outcome: Answer['outcome'] = 'failed'
  let arrivedAtMs: number | undefined
  const finish = (): void => {
    const answeredAtMs = nowMs()
    done({ outcome, answeredAtMs, decidedByMs: arrivedAtMs ?? answeredAtMs })
  }
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: () => undefined,
    onResponseStart: (_controller, status, fields) => {
      outcome = outcomeOf(status)
      if (fields[arrivalField] !== undefined) arrivedAtMs = Number(fields[arrivalField])
    },
    onResponseData: () => undefined,
    onResponseEnd: finish,
    onResponseError: () => {
      outcome = 'failed'
      finish()
    },
  }
  client.dispatch({ method: 'GET', path, headers }, handler)
}

const outcomeOf = (status: number): Answer['outcome'] => {
  if (status === 200) return 'admitted'
  return status === 429 ? 'refused' : 'failed'
}
