import { gatewayErrors } from '../errors.ts'
import { createContext } from '../http/context.ts'
import { createAddressReader } from '../http/peer/client-ip.ts'
import type { SampleNewTrace } from '../http/peer/trace-context.ts'
import type { HttpServerHandlers } from '../http/server/handlers.ts'
import type { Request } from '../http/server/request.ts'
import type { Response } from '../http/server/response.ts'
import { type CertificateReaderOptions, createCertificateReader } from '../http/tls/client-certificate.ts'
import type { AuthorizationServer } from '../oauth/index.ts'
import type { Plan, Rate } from '../plans/plan.ts'
import type { Limiter } from '../stores/ports/limiter.ts'
import { type AccessLog, operationMembers } from '../telemetry/access-log.ts'
import { type Audit, type AuditScope, narrowAudit } from '../telemetry/audit.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { Unmatched } from './access-record.ts'
import type { AuthenticationDeps } from './authn/authentication-step.ts'
import { createExchange } from './exchange.ts'
import { createExchangeLifecycle } from './exchange-lifecycle.ts'
import type { StreamRegistry } from './forwarding/long-lived-streams.ts'
import type { Operation } from './operation.ts'
import { createOperationMetrics, operationMetricsOf } from './operation-metrics.ts'
import { pipeline, run } from './pipeline.ts'
import type { LimitFieldForm } from './ratelimit-headers.ts'
import { beginTrace } from './request-trace.ts'
import { createRoutes } from './routing/route-table.ts'
import { createSoftLimitReport } from './soft-limit-report.ts'
import { type FindOpenUpstream, openUpstreams } from './upstreams/open-upstreams.ts'
import type { Upstream } from './upstreams/upstream.ts'
import type { UpstreamOptions } from './upstreams/upstream-options.ts'

export interface GatewayOptions {
  readonly operations: readonly Operation[]
  readonly upstreams: readonly UpstreamOptions[]
  readonly plans: Readonly<Record<string, Plan>>
  /** In which fields responses tell how much of a plan is left. */
  readonly rateLimitHeaders: LimitFieldForm
  /** Addresses and CIDRs whose X-Forwarded-* is trusted. Empty: no proxy is trusted. */
  readonly trustedProxies: readonly string[]
  /** How the certificate of a client is found. */
  readonly clientCertificates: CertificateReaderOptions
  /** Failed proofs per name and address; then 429. */
  readonly loginFailures: Rate
  /** Which events are written to the audit log. */
  readonly audit: AuditScope
}

export interface GatewayDeps {
  readonly caller: AuthenticationDeps
  readonly limiter: Limiter
  readonly recorder: Recorder
  readonly log: Logger
  readonly accessLog: AccessLog
  readonly audit: Audit
  /** All streams that are open in this process, of any gateway. */
  readonly streams: StreamRegistry
  /** Uses the configuration that is active when it is called, because a stream may stay open over many reloads. */
  readonly isTokenExpiredOrRevoked: AuthorizationServer['isTokenExpiredOrRevoked']
  /** Undefined: no traces are recorded. */
  readonly tracer: Tracer | undefined
  /** Decides the sampled flag of traces that begin here if no traces are recorded. */
  readonly sampleNewTrace: SampleNewTrace
}

export interface Gateway {
  readonly handlers: HttpServerHandlers
  /** By name. */
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** From now on every response closes its connection, so that clients connect to another process. */
  startDraining(): void
  /** Requests and WebSockets that are being answered now. */
  inFlight(): number
  close(): void
}

/**
 * Answers requests by the steps of the pipeline, and records one access line and one set of metrics for each of them.
 * @param findOpenUpstream is called only during this call and not kept, because it refers to the previous gateway
 */
export const createGateway = (
  options: GatewayOptions,
  deps: GatewayDeps,
  findOpenUpstream?: FindOpenUpstream,
): Gateway => {
  const { caller, limiter, recorder, log, accessLog, tracer, sampleNewTrace, streams, isTokenExpiredOrRevoked } = deps
  const audit = narrowAudit(deps.audit, options.audit)
  const { refusalPage } = caller.authorizationServer
  const peers = {
    addresses: createAddressReader(options.trustedProxies),
    certificates: createCertificateReader(options.clientCertificates),
  }
  const unmatched: Unmatched = {
    meter: createOperationMetrics(recorder, 'unmatched', '', 'unmatched'),
    members: operationMembers('unmatched', 'unmatched'),
  }
  const routes = createRoutes(options.operations.map(operation => operationMetricsOf(operation, recorder, refusalPage)))
  const defaultPlan = firstPlan(options.plans)
  // Everything above that can throw has run; otherwise the upstreams would stay open.
  const upstreams = openUpstreams(options.upstreams, deps, findOpenUpstream)
  const lifecycle = createExchangeLifecycle({ log, accessLog, audit, tracer, unmatched })
  const { begin, reply, fail, finish, startDraining, isDraining, inFlight } = lifecycle
  const steps = pipeline({
    routes,
    caller,
    plan: {
      limiter,
      plans: new Map(Object.entries(options.plans)),
      defaultPlan,
      limitFields: options.rateLimitHeaders,
      softLimits: createSoftLimitReport(log, () => performance.now()),
      audit,
    },
    forward: { upstreams, finish, reply, isDraining, streams, isTokenExpiredOrRevoked },
    recorder,
    audit,
  })

  const handle = (request: Request, response: Response): void => {
    const context = createContext(request, response, peers)
    const exchange = createExchange(context, tracer && beginTrace(tracer, context.fields), sampleNewTrace)
    begin()
    try {
      const outcome = run(steps, exchange)
      if (outcome instanceof Promise) {
        outcome.then(
          settled => reply(exchange, settled),
          error => fail(exchange, error),
        )
      } else {
        reply(exchange, outcome)
      }
    } catch (error) {
      fail(exchange, error)
    }
  }

  return {
    handlers: {
      request: handle,
      refused: code => unmatched.meter.countRequest('other', gatewayErrors[code].status, 0, 0, undefined),
      dropped: reason => recorder.counter('connectionsDropped', [reason]).add(),
    },
    upstreams,
    startDraining,
    inFlight,
    close() {
      for (const upstream of upstreams.values()) upstream.close()
    },
  }
}

const firstPlan = (plans: Readonly<Record<string, Plan>>): Plan => {
  const [plan] = Object.values(plans)
  if (plan === undefined) throw new TypeError('a gateway needs at least one plan')
  return plan
}
