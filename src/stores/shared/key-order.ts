import type { KeyRecord } from '../ports/keys.ts'

/** Sorts keys oldest first. Those of one millisecond have an order too, so that every process takes the same for the newest. */
export const byAge = (a: KeyRecord, b: KeyRecord): number => a.createdAtMs - b.createdAtMs || (a.kid < b.kid ? -1 : 1)
