import type { AccessLog, OperationMembers } from '../telemetry/access-log.ts'
import { claimedClientIdOf, type Exchange, methodOf } from './exchange.ts'
import type { OperationMetrics } from './operation-metrics.ts'
import { recordedIdOf } from './request-trace.ts'

/**
 * Writes one access line for a request, and the same facts as metrics. It has no query, no header and no body, because
 * those may hold secrets.
 */
export const observe = (exchange: Exchange, status: number, unmatched: Unmatched, accessLog: AccessLog): void => {
  const { context, operation, upstreamMs, trace } = exchange
  const durationMs = performance.now() - context.startedAtMs
  const method = methodOf(exchange)
  const meter = operation?.meter ?? unmatched.meter
  meter.countRequest(method, status, durationMs, upstreamMs, trace && recordedIdOf(trace))
  operation?.meter.inFlight.add(-1)
  accessLog.write({
    request_id: context.id,
    operation: operation?.members ?? unmatched.members,
    method,
    path: exchange.target?.path ?? '',
    status,
    client_id: claimedClientIdOf(exchange) ?? exchange.facts?.client_id,
    address: context.address,
    durationMs,
    upstreamMs,
    error_code: exchange.proofFault ?? exchange.facts?.proofFault,
    checked_for: exchange.check?.gateway,
  })
}

/** The metrics and names of requests that match no operation. */
export interface Unmatched {
  readonly meter: OperationMetrics
  readonly members: OperationMembers
}
