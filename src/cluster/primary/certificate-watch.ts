import type { Clock } from '../../clock.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { createFirstReports } from './first-report.ts'

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
