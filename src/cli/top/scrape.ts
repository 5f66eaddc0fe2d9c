import { parseExposition, type Samples } from './exposition.ts'

/** What the admin port said, and when. */
export interface Scrape {
  /** Of the monotonic clock of this process. */
  readonly atMs: number
  readonly samples: Samples
}

/** Longer than any admin port takes: it waits 100 ms for its workers. */
const mostWaitMs = 5_000

/**
 * Asks the admin port at this origin for its metrics.
 * @throws Error one line that says why there are none
 */
export const scrape = async (admin: string, signal: AbortSignal): Promise<Scrape> => {
  const text = await readMetrics(admin, AbortSignal.any([signal, AbortSignal.timeout(mostWaitMs)]))
  const samples = parseExposition(text)
  const isSidegate = [...samples.keys()].some(series => series.startsWith('sidegate_'))
  if (isSidegate) return { atMs: performance.now(), samples }
  throw new Error(`${admin}/metrics has no metrics of Sidegate; --admin names the admin port`)
}

const readMetrics = async (admin: string, signal: AbortSignal): Promise<string> => {
  const url = `${admin}/metrics`
  const fail = (cause: unknown): never => {
    throw new Error(`${url} cannot be reached (${reasonOf(cause)})`, { cause })
  }
  const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: 'text/plain' } }).catch(fail)
  if (response.ok) return response.text().catch(fail)
  await response.body?.cancel()
  throw new Error(`${url} answers ${response.status}; --admin names the admin port`)
}

/** `fetch` has the system's reason in its cause. */
const reasonOf = (error: unknown): string => {
  const { name = 'Error', cause } = error as { readonly name?: string; readonly cause?: { readonly code?: unknown } }
  return typeof cause?.code === 'string' ? cause.code : name
}
