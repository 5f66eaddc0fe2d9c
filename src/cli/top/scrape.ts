import { parseExposition, type Samples } from './prometheus-text.ts'

/** A response of the admin port, with its time. */
export interface Scrape {
  /** The time on the monotonic clock of this process. */
  readonly atMs: number
  readonly samples: Samples
}

/** Longer than a response of an admin port takes, which waits 100 ms for its workers. */
const mostWaitMs = 5_000

/**
 * Maximum size of a response, decoded. A larger one does not come from an admin port, or comes from one with thousands
 * of operations in use.
 */
const mostMegabytes = 64

/**
 * Fetches the metrics of the admin port at this origin.
 * @throws Error one line with the reason of the failure
 */
export const scrape = async (admin: string, signal: AbortSignal): Promise<Scrape> => {
  const text = await readMetrics(admin, AbortSignal.any([signal, AbortSignal.timeout(mostWaitMs)]))
  const samples = parseExposition(text)
  const isSidegate = [...samples.keys()].some(series => series.startsWith('sidegate_'))
  if (isSidegate) return { atMs: performance.now(), samples }
  throw new Error(`${admin}/metrics has no metrics of Sidegate; check --admin`)
}

const readMetrics = async (admin: string, signal: AbortSignal): Promise<string> => {
  const url = `${admin}/metrics`
  const fail = (cause: unknown): never => {
    throw new Error(`${url} cannot be reached (${scrapeFailureOf(cause)})`, { cause })
  }
  const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: 'text/plain' } }).catch(fail)
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`${url} answers ${response.status}; check --admin`)
  }
  const text = await readText(response).catch(fail)
  if (text !== undefined) return text
  throw new Error(`${url} sends more than ${mostMegabytes} MB, which Sidegate does not read; check --admin`)
}

/** Undefined if the response is too large; then the connection is closed. */
const readText = async ({ body }: Response): Promise<string | undefined> => {
  const decoder = new TextDecoder()
  let text = ''
  let leftBytes = mostMegabytes * 1e6
  for await (const piece of body ?? []) {
    leftBytes -= piece.byteLength
    if (leftBytes < 0) return undefined
    text += decoder.decode(piece, { stream: true })
  }
  return text
}

/**
 * The error of the system is the cause of the error that `fetch` throws, which itself only has the message `fetch
 * failed`.
 */
const scrapeFailureOf = (error: unknown): string => {
  if (error instanceof DOMException && error.name === 'TimeoutError') return `no answer within ${mostWaitMs / 1000} s`
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error)) return 'no reason given'
  if ('code' in cause && typeof cause.code === 'string') return cause.code
  // Ports of other protocols, such as 1 or 6000 (https://fetch.spec.whatwg.org/#port-blocking).
  return cause.message === 'bad port' ? 'HTTP clients do not connect to this port' : cause.message
}
