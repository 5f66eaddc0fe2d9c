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
  for (const series of samples.keys()) if (series.startsWith('sidegate_')) return { atMs: performance.now(), samples }
  throw new Error(`${admin}/metrics has no metrics of Sidegate; --admin names the admin port`)
}

const readMetrics = async (admin: string, signal: AbortSignal): Promise<string> => {
  try {
    const response = await fetch(`${admin}/metrics`, { redirect: 'manual', signal, headers: { accept: 'text/plain' } })
    if (response.ok) return await response.text()
    await response.body?.cancel()
    throw new Refusal(`${admin}/metrics answers ${response.status}; --admin names the admin port`)
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Error(`${admin}/metrics cannot be reached (${reasonOf(error)})`, { cause: error })
  }
}

class Refusal extends Error {}

/** `fetch` has the system's reason in its cause. */
const reasonOf = (error: unknown): string => {
  const { name = 'Error', cause } = error as { readonly name?: string; readonly cause?: { readonly code?: unknown } }
  return typeof cause?.code === 'string' ? cause.code : name
}
