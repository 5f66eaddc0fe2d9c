import type { Clock } from '../../clock.ts'

/**
 * Of what every worker finds by itself, and the primary says once, whether this is the first to find it.
 * @param id the same for the same finding, whoever has it, and for no other
 */
export type IsFirstReport = (id: string) => boolean

/** @param forMs how long a finding is remembered: the same one after that is a new one */
export const createFirstReports = (forMs: number, clock: Clock): IsFirstReport => {
  const foundAtMs = new Map<string, number>()
  return id => {
    const nowMs = clock.monotonicMs()
    // Oldest first: nothing after one that is young enough is too old.
    for (const [found, atMs] of foundAtMs) {
      if (nowMs - atMs <= forMs) break
      foundAtMs.delete(found)
    }
    if (foundAtMs.has(id)) return false
    foundAtMs.set(id, nowMs)
    return true
  }
}
