import { setTimeout as sleep } from 'node:timers/promises'
import { sharedForMs } from '../../src/cluster/primary/scrape-cache.ts'

/** When the scrape before ended, by admin listener and format. */
const scrapedAtMs = new Map<string, number>()

/**
 * The current metrics of the admin listener, not those of the previous scrape: scrapes that come soon after one
 * another share an answer.
 * @param admin e.g. `http://127.0.0.1:9090`
 */
export const fetchFreshMetrics = async (admin: string, init: RequestInit = {}): Promise<Response> => {
  const key = `${admin} ${JSON.stringify(init.headers ?? {})}`
  const readyAtMs = (scrapedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) + 2 * sharedForMs
  await sleep(Math.max(0, readyAtMs - performance.now()))
  const response = await fetch(`${admin}/metrics`, init)
  scrapedAtMs.set(key, performance.now())
  return response
}
