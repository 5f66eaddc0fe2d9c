import type { HealthOptions, UpstreamOptions } from '../../gateway/upstreams/upstream-options.ts'
import type { ClientTlsOptions } from '../../http/client/tls-context.ts'
import { evenShareOf } from '../../share.ts'
import type { Named, ParsedUpstream } from '../parse/parsed-config.ts'

/** @param workers number of processes that share the upstream's limits */
export const toUpstream = ({ name, value }: Named<ParsedUpstream>, workers: number): UpstreamOptions => ({
  name,
  targets: value.targets.map(toTarget),
  dnsIntervalMs: value.dnsInterval,
  connectTimeoutMs: value.connectTimeout,
  headersTimeoutMs: value.headersTimeout,
  bodyTimeoutMs: value.bodyTimeout,
  totalTimeoutMs: value.totalTimeout,
  webSocketIdleTimeoutMs: value.webSocketIdleTimeout,
  webSocketsOutliveTokens: value.webSocketsOutliveTokens,
  eventStreamsOutliveTokens: value.eventStreamsOutliveTokens,
  ...(value.maxInFlight !== undefined && { maxInFlight: evenShareOf(value.maxInFlight, workers) }),
  maxQueue: value.maxQueue === 0 ? 0 : evenShareOf(value.maxQueue, workers),
  queueTimeoutMs: value.queueTimeout,
  retryBudgetPercent: value.retryBudgetPercent,
  outlierDetection: {
    failures: value.outlierDetection.failures,
    timeMs: value.outlierDetection.baseEjectionTime,
    maxTimeMs: value.outlierDetection.maxEjectionTime,
    maxEjectionPercent: value.outlierDetection.maxEjectionPercent,
  },
  ...(value.health && { health: toHealth(value.health) }),
  ...(value.tls && { tls: toTls(value.tls) }),
})

const toHealth = (health: NonNullable<ParsedUpstream['health']>): HealthOptions => ({
  path: health.path,
  intervalMs: health.interval,
  timeoutMs: health.timeout,
  healthy: health.healthy,
  unhealthy: health.unhealthy,
})

const toTls = ({ ca_file, cert_file, key_file, servername }: NonNullable<ParsedUpstream['tls']>): ClientTlsOptions => ({
  ...(ca_file !== undefined && { caFile: ca_file }),
  ...(cert_file !== undefined && { certFile: cert_file }),
  ...(key_file !== undefined && { keyFile: key_file }),
  ...(servername !== undefined && { servername }),
})

const toTarget = (target: string): string => (target.startsWith('unix:') ? target : new URL(target).origin)
