import { type LookUp, lookUpBySystem } from '../../http/client/dns-refresh.ts'
import type { FailureKind, RoundTripError } from '../../http/client/errors.ts'
import { type ClientTls, openClientTls } from '../../http/client/tls-context.ts'
import { type CertificateMeter, createCertificateMeter } from '../../telemetry/certificate-metrics.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Recorder } from '../../telemetry/recorder.ts'
import { ConnectFailureLog } from './connect-failure-log.ts'
import { createEndpointFactory, type Endpoint } from './endpoint.ts'
import { EndpointDiscovery } from './endpoint-discovery.ts'
import { HealthCheck } from './health-check.ts'
import { LoadBalancer } from './load-balancer.ts'
import { type EjectionReason, OutlierDetection } from './outlier-detection.ts'
import { PendingQueue, type QueuedRequest } from './pending-queue.ts'
import { RetryBudget } from './retry-budget.ts'
import type { UpstreamFailure } from './upstream-failure.ts'
import { createUpstreamLog, type UpstreamLog } from './upstream-log.ts'
import { createUpstreamMetrics, type UpstreamMetrics } from './upstream-metrics.ts'
import type { UpstreamOptions } from './upstream-options.ts'

export interface UpstreamDeps {
  readonly recorder: Recorder
  readonly log: Logger
  /** Left out: the resolver of the system. */
  readonly lookUp?: LookUp
  /** Time of a monotonic clock. Left out: `performance.now()`. */
  readonly nowMs?: () => number
}

/**
 * One service behind the gateway: its endpoints, its limits and its metrics. Each request takes an endpoint, reports
 * the result and gives the endpoint back.
 */
export class Upstream {
  readonly name: string
  readonly options: UpstreamOptions
  readonly #log: UpstreamLog
  readonly #meter: UpstreamMetrics
  readonly #loadBalancer: LoadBalancer
  readonly #checks = new Map<Endpoint, HealthCheck>()
  readonly #outlierDetection: OutlierDetection
  readonly #connectFailures: ConnectFailureLog
  readonly #budget: RetryBudget
  readonly #queue: PendingQueue<Endpoint>
  readonly #certificates: CertificateMeter | undefined
  readonly #tls: ClientTls | undefined
  readonly #discovery: EndpointDiscovery
  readonly #maxInFlight: number
  readonly #nowMs: () => number
  #inFlight = 0
  /** How many gateways use it. */
  #gateways = 1

  /** @throws Error a sentence for the operator if its TLS files cannot be used */
  constructor(options: UpstreamOptions, { recorder, log, lookUp = lookUpBySystem, nowMs = monotonicMs }: UpstreamDeps) {
    this.name = options.name
    this.options = options
    this.#nowMs = nowMs
    this.#log = createUpstreamLog(log, options.name)
    this.#meter = createUpstreamMetrics(options.name, recorder)
    this.#loadBalancer = new LoadBalancer(this.#meter.endpoints)
    this.#outlierDetection = new OutlierDetection(options.outlierDetection, this.#loadBalancer, this.#log)
    this.#connectFailures = new ConnectFailureLog(this.#log, nowMs)
    this.#budget = new RetryBudget(options.retryBudgetPercent)
    this.#queue = new PendingQueue(options.maxQueue, options.queueTimeoutMs, this.#meter.queued)
    this.#maxInFlight = options.maxInFlight ?? Number.POSITIVE_INFINITY
    this.#certificates = options.tls && createCertificateMeter(recorder, 'upstream', options.name)
    this.#tls =
      options.tls &&
      openClientTls(options.tls, {
        uses: ends => this.#certificates?.ends(ends),
        renewed: () => this.#onRenewed(),
        refused: this.#log.refused,
      })
    this.#discovery = new EndpointDiscovery(options, {
      lookUp,
      create: createEndpointFactory(options, this.#tls),
      onEndpoints: endpoints => this.#onEndpoints(endpoints),
      onAddresses: this.#log.addresses,
      onUnresolved: this.#log.unresolved,
    })
  }

  /** Takes an endpoint for a request, which is counted there. Undefined if the upstream has no room now. */
  take(): Endpoint | undefined {
    if (this.#inFlight >= this.#maxInFlight) return undefined
    this.#inFlight += 1
    this.#budget.requests += 1
    const endpoint = this.#loadBalancer.choose()
    endpoint.inFlight += 1
    return endpoint
  }

  /** Adds the request to the queue for an endpoint. @returns false if the queue is full */
  wait(request: QueuedRequest<Endpoint>): boolean {
    return this.#queue.join(request)
  }

  /** Removes the request from the queue. */
  leave(request: QueuedRequest<Endpoint>): void {
    this.#queue.leave(request)
  }

  /** The request has ended at the endpoint; the next one in the queue may begin. */
  giveBack(endpoint: Endpoint): void {
    endpoint.inFlight -= 1
    this.#inFlight -= 1
    if (this.#queue.length > 0) this.#startNext()
  }

  /**
   * An endpoint for a retry in place of the last one, if the budget allows a retry.
   * @param tried the endpoints that have failed, the last one at the end
   * @param isOtherNeeded whether it is useless to try the last one again
   */
  takeAgain(tried: readonly Endpoint[], isOtherNeeded: boolean): Endpoint | undefined {
    const last = tried.at(-1)
    const next = this.#loadBalancer.chooseOther(tried) ?? (isOtherNeeded ? undefined : last)
    if (last === undefined || next === undefined) return undefined
    const isAllowed = this.#budget.take(this.#nowMs())
    this.#meter.countRetry(isAllowed ? 'allowed' : 'denied')
    if (!isAllowed) return undefined
    last.inFlight -= 1
    next.inFlight += 1
    return next
  }

  /** An endpoint has sent a response with this status. */
  recordResponse(endpoint: Endpoint, status: number): void {
    if (status >= 500) this.#outlierDetection.count(endpoint, '5xx')
    else if (endpoint.failures > 0) endpoint.failures = 0
    if (this.#connectFailures.hasTrouble) this.#connectFailures.succeeded(endpoint)
  }

  /** An endpoint has sent no response. */
  recordFailure(endpoint: Endpoint, error: RoundTripError): void {
    const { kind, wasReused } = error
    if (this.#loadBalancer.all.includes(endpoint)) this.#connectFailures.failed(endpoint, error)
    const reason = endpointFaults[kind]
    // A server may close an idle connection at any time. Only a new connection that closes is a failure.
    const isUsual = kind === 'closed' && wasReused
    if (reason && !isUsual) this.#outlierDetection.count(endpoint, reason)
  }

  /** Counts a round trip that is complete. */
  countResponse(status: number, durationMs: number): void {
    this.#meter.countResponse(status, durationMs)
  }

  /** Counts a request without a complete response. */
  countFailure(reason: UpstreamFailure): void {
    this.#meter.countFailure(reason)
  }

  /** Another gateway uses it too. */
  share(): this {
    this.#gateways += 1
    return this
  }

  /** One gateway no longer uses it. After the last one, requests under way fail. */
  close(): void {
    this.#gateways -= 1
    if (this.#gateways > 0) return
    this.#discovery.close()
    this.#tls?.close()
    this.#certificates?.close()
    this.#outlierDetection.close()
    this.#connectFailures.close()
    this.#queue.close()
    for (const check of this.#checks.values()) check.close()
    for (const endpoint of this.#loadBalancer.all) endpoint.pool.close()
    this.#loadBalancer.close()
  }

  #startNext(): void {
    const endpoint = this.take()
    if (endpoint) this.#queue.shift()?.onTurn(endpoint)
  }

  #onRenewed(): void {
    this.#log.renewed()
    for (const { pool } of this.#loadBalancer.all) pool.retire()
  }

  #onEndpoints(endpoints: readonly Endpoint[]): void {
    const before = this.#loadBalancer.all
    for (const endpoint of before) if (!endpoints.includes(endpoint)) this.#remove(endpoint)
    for (const endpoint of endpoints) if (!before.includes(endpoint)) this.#startCheck(endpoint)
    this.#loadBalancer.replace(endpoints)
  }

  #startCheck(endpoint: Endpoint): void {
    const { health } = this.options
    if (health) this.#checks.set(endpoint, new HealthCheck(endpoint, health, () => this.#onHealth(endpoint)))
  }

  /** Requests under way complete. */
  #remove(endpoint: Endpoint): void {
    this.#checks.get(endpoint)?.close()
    this.#checks.delete(endpoint)
    this.#outlierDetection.forget(endpoint)
    this.#connectFailures.forget(endpoint)
    endpoint.pool.retire()
  }

  #onHealth(endpoint: Endpoint): void {
    this.#loadBalancer.update()
    this.#log.health(endpoint)
  }
}

const monotonicMs = (): number => performance.now()

/** Failures that count towards ejection. Responses that break off and errors of the client do not. */
const endpointFaults: Readonly<Partial<Record<FailureKind, EjectionReason>>> = {
  unreachable: 'connect',
  closed: 'reset',
  late: 'timeout',
  invalid: 'invalid',
}
