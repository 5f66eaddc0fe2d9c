import type { Clock } from '../../clock.ts'
import type { Audit, AuditEntry } from '../../telemetry/audit.ts'
import type { Logger } from '../../telemetry/logger.ts'

/**
 * Whether this is the first report of a finding. Every worker finds the same by itself; the primary logs the first
 * report and drops the others.
 * @param id the same for the same finding in every worker, and different for every other finding
 */
export type IsFirstReport = (id: string) => boolean

/** @param forMs how long a finding is remembered; a report after that counts as a new finding */
export const createFirstReports = (forMs: number, clock: Clock): IsFirstReport => {
  const foundAtMs = new Map<string, number>()
  return id => {
    const nowMs = clock.monotonicMs()
    // The oldest come first, so all after a young one are young too.
    for (const [found, atMs] of foundAtMs) {
      if (nowMs - atMs <= forMs) break
      foundAtMs.delete(found)
    }
    if (foundAtMs.has(id)) return false
    foundAtMs.set(id, nowMs)
    return true
  }
}

/** Writes each change that workers find in the store to the audit log once. */
export interface ChangeWatch {
  /** @param id the same for the same change in every worker, and different for every other change */
  saw(id: string, entry: AuditEntry): void
}

/** Every worker finds a change within seconds; a worker that hung for longer than this causes a second line. */
const sameChangeMs = 600_000

export const createChangeWatch = (audit: Audit, clock: Clock): ChangeWatch => {
  const isFirst = createFirstReports(sameChangeMs, clock)
  return {
    saw(id, entry) {
      if (isFirst(id)) audit.write(entry)
    },
  }
}

/** Logs each fault that workers find in changed certificate files once. */
export interface CertificateWatch {
  /**
   * @param reason a sentence with the file's name
   * @param content the same for the same content of the same files
   */
  refused(reason: string, content: string): void
}

/** Every worker checks the files every two seconds; a report later than this is a new finding. */
const sameFindingMs = 60_000

export const createCertificateWatch = (log: Logger, clock: Clock): CertificateWatch => {
  const isFirst = createFirstReports(sameFindingMs, clock)
  return {
    refused(reason, content) {
      if (!isFirst(`${content} ${reason}`)) return
      log.warn({ event: 'certificate_refused', reason }, 'the certificate files cannot be served: kept the old ones')
    },
  }
}
