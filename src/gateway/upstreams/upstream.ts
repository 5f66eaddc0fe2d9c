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
  /** Left out: the system's own. */
  readonly lookUp?: LookUp
  /** Of a monotonic clock. Left out: the system's own. */
  readonly nowMs?: () => number
}

/**
 * One service behind the gateway: who serves it, how much it is asked at a time, and what is counted of it. Each request
 * takes an endpoint, tells how it did, and gives it back.
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
  /** How many gateways forward to it. */
  #gateways = 1

  /** @throws Error a sentence for the operator, where the files of its TLS cannot be used */
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

  /** An endpoint for a request, counted as serving it; undefined where there is no room now. */
  take(): Endpoint | undefined {
    if (this.#inFlight >= this.#maxInFlight) return undefined
    this.#inFlight += 1
    this.#budget.requests += 1
    const endpoint = this.#loadBalancer.choose()
    endpoint.inFlight += 1
    return endpoint
  }

  /** Waits for an endpoint. @returns false where there is no room to wait either */
  wait(request: QueuedRequest<Endpoint>): boolean {
    return this.#queue.join(request)
  }

  /** Waits no more. */
  leave(request: QueuedRequest<Endpoint>): void {
    this.#queue.leave(request)
  }

  /** The endpoint serves this request no more: the next one may come. */
  giveBack(endpoint: Endpoint): void {
    endpoint.inFlight -= 1
    this.#inFlight -= 1
    if (this.#queue.length > 0) this.#startNext()
  }

  /**
   * An endpoint for another try, in place of the last, as far as retries are within their budget.
   * @param tried those that have failed, the last one at the end
   * @param isOtherNeeded whether there is no use in trying the last one again
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

  /** An endpoint has answered with this status. */
  recordResponse(endpoint: Endpoint, status: number): void {
    if (status >= 500) this.#outlierDetection.count(endpoint, '5xx')
    else if (endpoint.failures > 0) endpoint.failures = 0
    if (this.#connectFailures.hasTrouble) this.#connectFailures.succeeded(endpoint)
  }

  /** An endpoint has not answered. */
  recordFailure(endpoint: Endpoint, error: RoundTripError): void {
    const { kind, wasReused } = error
    if (this.#loadBalancer.all.includes(endpoint)) this.#connectFailures.failed(endpoint, error)
    const reason = endpointFaults[kind]
    // A connection that was kept may end at any time; a new one tells.
    const isUsual = kind === 'closed' && wasReused
    if (reason && !isUsual) this.#outlierDetection.count(endpoint, reason)
  }

  /** Counts a round trip that came to its end. */
  countResponse(status: number, durationMs: number): void {
    this.#meter.countResponse(status, durationMs)
  }

  /** Counts a request that had no whole answer. */
  countFailure(reason: UpstreamFailure): void {
    this.#meter.countFailure(reason)
  }

  /** It is another gateway's, too. */
  share(): this {
    this.#gateways += 1
    return this
  }

  /** It is one gateway's less. After the last requests under way fail. */
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

  /** What it serves now it may finish. */
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

/** What tells of an endpoint that it is out of order; an answer that was under way, and a client's fault, do not. */
const endpointFaults: Readonly<Partial<Record<FailureKind, EjectionReason>>> = {
  unreachable: 'connect',
  closed: 'reset',
  late: 'timeout',
  invalid: 'invalid',
}
