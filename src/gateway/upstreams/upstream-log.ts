import type { ClientTlsReport } from '../../http/client/tls-context.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { ConnectReport } from './connect-failure-log.ts'
import type { Endpoint } from './endpoint.ts'
import type { EjectionReport } from './outlier-detection.ts'

/** The log lines about one upstream. */
export interface UpstreamLog extends EjectionReport, ConnectReport, Omit<ClientTlsReport, 'uses'> {
  /** The endpoint has become unhealthy, or healthy again. */
  health(endpoint: Endpoint): void
  addresses(name: string, addresses: readonly string[]): void
  unresolved(name: string, reason: string): void
}

export const createUpstreamLog = (log: Logger, upstream: string): UpstreamLog => ({
  ejected: ({ address }, reason, forMs) =>
    log.warn(
      { event: 'upstream_endpoint_ejected', upstream, address, reason, for_ms: forMs },
      'an endpoint of an upstream fails and gets no requests for a while',
    ),
  restored: ({ address }) =>
    log.info(
      { event: 'upstream_endpoint_restored', upstream, address },
      'an endpoint of an upstream gets requests again',
    ),
  unreachable: ({ address }, { code, reason }) =>
    log.warn(
      { event: 'upstream_unreachable', upstream, address, code, reason },
      'no connection to an endpoint of an upstream can be made',
    ),
  reachable: ({ address }) =>
    log.info(
      { event: 'upstream_reachable', upstream, address },
      'connections to an endpoint of an upstream succeed again',
    ),
  health: ({ address, isHealthy }) =>
    isHealthy
      ? log.info(
          { event: 'upstream_endpoint_healthy', upstream, address },
          'an endpoint of an upstream is healthy again',
        )
      : log.warn(
          { event: 'upstream_endpoint_unhealthy', upstream, address },
          'an endpoint of an upstream is not healthy',
        ),
  addresses: (name, addresses) =>
    log.info(
      { event: 'upstream_addresses_changed', upstream, name, addresses },
      'the addresses of an upstream have changed',
    ),
  unresolved: (name, reason) =>
    log.warn(
      { event: 'upstream_name_unresolved', upstream, name, reason },
      'the name of an upstream cannot be resolved; its last known addresses are used',
    ),
  renewed: () =>
    log.info(
      { event: 'upstream_certificate_renewed', upstream },
      'new connections to an upstream use other certificates',
    ),
  refused: reason =>
    log.warn(
      { event: 'upstream_certificate_refused', upstream, reason },
      'the certificate files of an upstream cannot be used',
    ),
})
