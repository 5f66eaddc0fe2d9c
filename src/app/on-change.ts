import type { AuditEntry } from '../telemetry/audit.ts'

/**
 * Told of what an operator, or the time, changed in the store. Every process sees it, and the primary says it once.
 * @param id the same for the same change in every process, and for no other: such as `client 7`
 */
export type OnChange = (id: string, entry: AuditEntry) => void
