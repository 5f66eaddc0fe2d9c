import type { Clock } from '../../clock.ts'
import type { Audit, AuditEntry } from '../../telemetry/audit.ts'
import { createFirstReports } from './first-report.ts'

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
