import type { TlsReport } from '../http/tls/tls.ts'
import { type CertificateUse, createCertificateMeter } from '../telemetry/certificate-metrics.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Recorder } from '../telemetry/recorder.ts'

export interface CertificateReportDeps {
  readonly log: Logger
  readonly recorder: Recorder
  /** Called if changed certificate files cannot be used; every process finds the same. */
  readonly onCertificateRefused: TlsReport['refused']
}

/** Reports changes of a listener's certificates to the log and the metrics. */
export const reportCertificates = (
  use: CertificateUse,
  { log, recorder, onCertificateRefused }: CertificateReportDeps,
): TlsReport => ({
  serves: createCertificateMeter(recorder, use).ends,
  renewed: validTo =>
    log.info(
      { event: 'certificate_renewed', valid_to: validTo.toISOString() },
      'new connections get a new certificate',
    ),
  refused: onCertificateRefused,
})
