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
 * takes a member, tells how it did, and gives it back.
 */
export class Upstream {
  readonly name: string
  readonly options: UpstreamOptions
  readonly #log: UpstreamLog
  readonly #meter: UpstreamMetrics
  readonly #members: LoadBalancer
  readonly #checks = new Map<Endpoint, HealthCheck>()
  readonly #outlierDetection: OutlierDetection
  readonly #reach: ConnectFailureLog
  readonly #budget: RetryBudget
  readonly #line: PendingQueue<Endpoint>
  readonly #certificates: CertificateMeter | undefined
  readonly #tls: ClientTls | undefined
  readonly #roster: EndpointDiscovery
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
    this.#members = new LoadBalancer(this.#meter.members)
    this.#outlierDetection = new OutlierDetection(options.outlierDetection, this.#members, this.#log)
    this.#reach = new ConnectFailureLog(this.#log, nowMs)
    this.#budget = new RetryBudget(options.retryBudgetPercent)
    this.#line = new PendingQueue(options.maxQueue, options.queueTimeoutMs, this.#meter.queued)
    this.#maxInFlight = options.maxInFlight ?? Number.POSITIVE_INFINITY
    this.#certificates = options.tls && createCertificateMeter(recorder, 'upstream', options.name)
    this.#tls =
      options.tls &&
      openClientTls(options.tls, {
        uses: ends => this.#certificates?.ends(ends),
        renewed: () => this.#onRenewed(),
        refused: this.#log.refused,
      })
    this.#roster = new EndpointDiscovery(options, {
      lookUp,
      create: createEndpointFactory(options, this.#tls),
      onMembers: members => this.#onMembers(members),
      onAddresses: this.#log.addresses,
      onUnresolved: this.#log.unresolved,
    })
  }

  /** A member for a request, counted as serving it; undefined where there is no room now. */
  take(): Endpoint | undefined {
    if (this.#inFlight >= this.#maxInFlight) return undefined
    this.#inFlight += 1
    this.#budget.requests += 1
    const member = this.#members.choose()
    member.inFlight += 1
    return member
  }

  /** Waits for a member. @returns false where there is no room to wait either */
  wait(waiter: QueuedRequest<Endpoint>): boolean {
    return this.#line.join(waiter)
  }

  /** Waits no more. */
  leave(waiter: QueuedRequest<Endpoint>): void {
    this.#line.leave(waiter)
  }

  /** The member serves this request no more: the next one may come. */
  giveBack(member: Endpoint): void {
    member.inFlight -= 1
    this.#inFlight -= 1
    if (this.#line.length > 0) this.#callNext()
  }

  /**
   * A member for another try, in place of the last, as far as retries are within their budget.
   * @param tried those that have failed, the last one at the end
   * @param isOtherNeeded whether there is no use in trying the last one again
   */
  takeAgain(tried: readonly Endpoint[], isOtherNeeded: boolean): Endpoint | undefined {
    const last = tried.at(-1)
    const next = this.#members.chooseOther(tried) ?? (isOtherNeeded ? undefined : last)
    if (last === undefined || next === undefined) return undefined
    const isAllowed = this.#budget.take(this.#nowMs())
    this.#meter.retry(isAllowed ? 'allowed' : 'denied')
    if (!isAllowed) return undefined
    last.inFlight -= 1
    next.inFlight += 1
    return next
  }

  /** A member has answered with this status. */
  heard(member: Endpoint, status: number): void {
    if (status >= 500) this.#outlierDetection.count(member, '5xx')
    else if (member.failures > 0) member.failures = 0
    if (this.#reach.hasTrouble) this.#reach.succeeded(member)
  }

  /** A member has not answered. */
  missed(member: Endpoint, error: RoundTripError): void {
    const { kind, wasReused } = error
    if (this.#members.all.includes(member)) this.#reach.failed(member, error)
    const reason = membersFaults[kind]
    // A connection that was kept may end at any time; a new one tells.
    const isUsual = kind === 'closed' && wasReused
    if (reason && !isUsual) this.#outlierDetection.count(member, reason)
  }

  /** Counts a round trip that came to its end. */
  answered(status: number, durationMs: number): void {
    this.#meter.answered(status, durationMs)
  }

  /** Counts a request that had no whole answer. */
  failed(reason: UpstreamFailure): void {
    this.#meter.failed(reason)
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
    this.#roster.close()
    this.#tls?.close()
    this.#certificates?.close()
    this.#outlierDetection.close()
    this.#reach.close()
    this.#line.close()
    for (const check of this.#checks.values()) check.close()
    for (const member of this.#members.all) member.pool.close()
    this.#members.close()
  }

  #callNext(): void {
    const member = this.take()
    if (member) this.#line.shift()?.onTurn(member)
  }

  #onRenewed(): void {
    this.#log.renewed()
    for (const { pool } of this.#members.all) pool.retire()
  }

  #onMembers(members: readonly Endpoint[]): void {
    const before = this.#members.all
    for (const member of before) if (!members.includes(member)) this.#dismiss(member)
    for (const member of members) if (!before.includes(member)) this.#observe(member)
    this.#members.replace(members)
  }

  #observe(member: Endpoint): void {
    const { health } = this.options
    if (health) this.#checks.set(member, new HealthCheck(member, health, () => this.#onHealth(member)))
  }

  /** What it serves now it may finish. */
  #dismiss(member: Endpoint): void {
    this.#checks.get(member)?.close()
    this.#checks.delete(member)
    this.#outlierDetection.forget(member)
    this.#reach.forget(member)
    member.pool.retire()
  }

  #onHealth(member: Endpoint): void {
    this.#members.update()
    this.#log.health(member)
  }
}

const monotonicMs = (): number => performance.now()

/** What tells of a member that it is out of order; an answer that was under way, and a client's fault, do not. */
const membersFaults: Readonly<Partial<Record<FailureKind, EjectionReason>>> = {
  unreachable: 'connect',
  closed: 'reset',
  late: 'timeout',
  invalid: 'invalid',
}
