import { gatewayErrors, OAuthError } from '../errors.ts'
import { createContext } from '../http/context.ts'
import { createAddressReader } from '../http/peer/client-ip.ts'
import type { SampleNewTrace } from '../http/peer/trace-context.ts'
import { writeReply } from '../http/reply.ts'
import type { HttpServerHandlers } from '../http/server/handlers.ts'
import type { Request } from '../http/server/request.ts'
import type { Response } from '../http/server/response.ts'
import { type CertificateReaderOptions, createCertificateReader } from '../http/tls/client-certificate.ts'
import type { AuthorizationServer } from '../oauth/index.ts'
import type { Plan, Rate } from '../plans/plan.ts'
import type { Limiter } from '../stores/ports/limiter.ts'
import { StoreUnavailableError } from '../stores/ports/store-unavailable.ts'
import { type AccessLog, operationMembers } from '../telemetry/access-log.ts'
import { type Audit, type AuditScope, narrowAudit } from '../telemetry/audit.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import { observe, type Unmatched } from './access-record.ts'
import { auditFailure } from './audit-events.ts'
import type { AuthenticationDeps } from './authn/authenticate.ts'
import { refuse, refuseError } from './error-response.ts'
import { clientGone, createExchange, type Exchange, type Outcome } from './exchange.ts'
import { toCheckReply } from './forward-auth/check-reply.ts'
import type { StreamRegistry } from './forwarding/long-lived-streams.ts'
import { forwardUpgrade } from './forwarding/websocket.ts'
import type { Operation } from './operation.ts'
import { createOperationMetrics, operationMetricsOf } from './operation-metrics.ts'
import { pipeline, run } from './pipeline.ts'
import type { LimitFieldForm } from './ratelimit-headers.ts'
import { createRoutes } from './routing/route-table.ts'
import { createSoftLimitReport } from './soft-limit-report.ts'
import { recordTrace } from './tracing/record-trace.ts'
import { beginTrace } from './tracing/request-trace.ts'
import { type FindOpenUpstream, openUpstreams } from './upstreams/open-upstreams.ts'
import type { Upstream } from './upstreams/upstream.ts'
import type { UpstreamOptions } from './upstreams/upstream-options.ts'

export interface GatewayOptions {
  readonly operations: readonly Operation[]
  readonly upstreams: readonly UpstreamOptions[]
  readonly plans: Readonly<Record<string, Plan>>
  /** How answers tell what is left of a plan. */
  readonly rateLimitHeaders: LimitFieldForm
  /** Addresses and CIDRs whose X-Forwarded-* is believed. Empty: nobody's. */
  readonly trustedProxies: readonly string[]
  /** Whose word counts for a client's certificate. */
  readonly clientCertificates: CertificateReaderOptions
  /** Wrong proofs per name and address, then 429. */
  readonly loginFailures: Rate
  /** Of which happenings there are audit lines. */
  readonly audit: AuditScope
}

export interface GatewayDeps {
  readonly caller: AuthenticationDeps
  readonly limiter: Limiter
  readonly recorder: Recorder
  readonly log: Logger
  readonly accessLog: AccessLog
  readonly audit: Audit
  /** Those that are open in this process, by whatever gateway. */
  readonly endless: StreamRegistry
  /** Asked under the configuration that is served when it is called: a stream may stay open over many reloads. */
  readonly isTokenExpiredOrRevoked: AuthorizationServer['isTokenExpiredOrRevoked']
  /** Undefined: no traces are recorded. */
  readonly tracer: Tracer | undefined
  /** Of those that begin here, where none are. */
  readonly sampleNewTrace: SampleNewTrace
}

export interface Gateway {
  readonly handlers: HttpServerHandlers
  /** By name. */
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** From now on every answer ends its connection, so that clients go elsewhere. */
  startDraining(): void
  /** Requests and WebSockets being answered now. */
  inFlight(): number
  close(): void
}

/**
 * The gateway: one request in, one answer out, one log line and one set of observations from the same facts.
 * @param findOpenUpstream asked only now, and not kept: it leads to the gateway before
 */
export const createGateway = (
  options: GatewayOptions,
  deps: GatewayDeps,
  findOpenUpstream?: FindOpenUpstream,
): Gateway => {
  const { recorder, log, tracer, sampleNewTrace } = deps
  const audit = narrowAudit(deps.audit, options.audit)
  const { refusalPage } = deps.caller.authorizationServer
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
  // What may fail is behind: they would stay open.
  const upstreams = openUpstreams(options.upstreams, deps, findOpenUpstream)
  let inFlight = 0
  let draining = false

  const finish = (exchange: Exchange, status: number): void => {
    if (exchange.finished) return
    exchange.finished = true
    inFlight--
    observe(exchange, status, unmatched, deps.accessLog)
    if (tracer !== undefined) recordTrace(tracer, exchange, status)
  }
  const reply = (exchange: Exchange, outcome: Outcome): void => {
    if (outcome === 'taken' || exchange.finished) return
    if (outcome === 'gone') {
      finish(exchange, exchange.context.response.refusal?.status ?? clientGone)
      return
    }
    const answer = outcome ?? refuse(exchange, 'INTERNAL')
    const sent = exchange.check === undefined ? answer : toCheckReply(exchange, exchange.check, answer)
    const headers = exchange.answerFields.length === 0 ? sent.headers : [...sent.headers, ...exchange.answerFields]
    const close = draining || sent.close === true
    writeReply(exchange.context.response, { ...sent, headers, close }, exchange.context.id)
    finish(exchange, answer.status)
  }
  const fail = (exchange: Exchange, error: unknown): void => {
    if (!(error instanceof OAuthError) && !(error instanceof StoreUnavailableError)) {
      log.error({ event: 'request_failed', request_id: exchange.context.id, err: error }, 'a request failed')
    }
    auditFailure(audit, exchange, error)
    reply(exchange, refuseError(exchange, error))
  }

  const { endless, isTokenExpiredOrRevoked } = deps
  const forwarding = { upstreams, finish, reply, endless, isTokenExpiredOrRevoked }
  const steps = pipeline({
    routes,
    caller: deps.caller,
    plan: {
      limiter: deps.limiter,
      plans: new Map(Object.entries(options.plans)),
      defaultPlan,
      limitFields: options.rateLimitHeaders,
      softLimits: createSoftLimitReport(log, () => performance.now()),
      audit,
    },
    forward: { ...forwarding, isDraining: () => draining, upgrade: forwardUpgrade(forwarding) },
    recorder,
    audit,
  })

  const handle = (request: Request, response: Response): void => {
    const context = createContext(request, response, peers)
    const exchange = createExchange(context, tracer && beginTrace(tracer, context.fields), sampleNewTrace)
    // A number, not the exchanges themselves: a set of them costs a fifth of the throughput.
    inFlight++
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
      refused: code => unmatched.meter.answered('other', gatewayErrors[code].status, 0, 0, undefined),
      dropped: reason => recorder.counter('connectionsDropped', [reason]).add(),
    },
    upstreams,
    startDraining() {
      draining = true
    },
    inFlight: () => inFlight,
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
