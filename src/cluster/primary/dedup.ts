import type { Clock } from '../../clock.ts'
import type { Audit, AuditEntry } from '../../telemetry/audit.ts'
import type { Logger } from '../../telemetry/logger.ts'

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

/** What the workers see that somebody changed in the store, said once by the primary. */
export interface ChangeWatch {
  /** @param id the same for the same change, whoever sees it, and of no other */
  saw(id: string, entry: AuditEntry): void
}

/** Every worker sees a change within seconds; one that hung for longer than this tells it again. */
const sameChangeMs = 600_000

export const createChangeWatch = (audit: Audit, clock: Clock): ChangeWatch => {
  const isFirst = createFirstReports(sameChangeMs, clock)
  return {
    saw(id, entry) {
      if (isFirst(id)) audit.write(entry)
    },
  }
}

/** What the workers say of certificate files that they cannot renew to, said once by the primary. */
export interface CertificateWatch {
  /**
   * @param reason a sentence with the file's name
   * @param content the same for the same content of the same files
   */
  refused(reason: string, content: string): void
}

/** Every worker looks at the files every two seconds; what comes later than this is a new finding. */
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
