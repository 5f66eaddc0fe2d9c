import { type ClientTls, type ClientTlsReport, openClientTls } from '../../http/client/client-tls.ts'
import type { FailureKind, RoundTripError } from '../../http/client/failure.ts'
import type { ConnectionLimits } from '../../http/client/limits.ts'
import { toPlace } from '../../http/client/place.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Recorder } from '../../telemetry/recorder.ts'
import { Ejection, type EjectionReason, type EjectionReport } from './ejection.ts'
import { Member } from './member.ts'
import { Members } from './members.ts'
import { RetryBudget } from './retry-budget.ts'
import type { UpstreamFailure } from './upstream-failure.ts'
import { createUpstreamMeter, type UpstreamMeter } from './upstream-meter.ts'
import type { UpstreamOptions } from './upstream-options.ts'
import { type Waiter, WaitingLine } from './waiting-line.ts'

export interface UpstreamDeps {
  readonly recorder: Recorder
  readonly log: Logger
}

/**
 * One service behind the gateway: who serves it, how much it is asked at a time, and what is counted of it. Each request
 * takes a member, tells how it did, and gives it back.
 */
export class Upstream {
  readonly name: string
  readonly options: UpstreamOptions
  readonly #meter: UpstreamMeter
  readonly #members: Members
  readonly #ejection: Ejection
  readonly #budget: RetryBudget
  readonly #line: WaitingLine<Member>
  readonly #tls: ClientTls | undefined
  readonly #maxInFlight: number
  #inFlight = 0

  /** @throws Error a sentence for the operator, where the files of its TLS cannot be used */
  constructor(options: UpstreamOptions, { recorder, log }: UpstreamDeps) {
    this.name = options.name
    this.options = options
    this.#meter = createUpstreamMeter(options.name, recorder)
    this.#members = new Members(this.#meter.members)
    this.#ejection = new Ejection(options.ejection, this.#members, reportTo(log, options.name))
    this.#budget = new RetryBudget(options.retryPercent)
    this.#line = new WaitingLine(options.maxQueue, options.queueTimeoutMs, this.#meter.queued)
    this.#maxInFlight = options.maxInFlight ?? Number.POSITIVE_INFINITY
    this.#tls = options.tls && openClientTls(options.tls, this.#reportTls(log))
    const limits = limitsOf(options)
    this.#members.replace(options.targets.map(target => new Member(target, toPlace(target), limits, this.#tls)))
  }

  /** A member for a request, counted as serving it; undefined where there is no room now. */
  take(): Member | undefined {
    if (this.#inFlight >= this.#maxInFlight) return undefined
    this.#inFlight += 1
    this.#budget.requests += 1
    const member = this.#members.choose()
    member.inFlight += 1
    return member
  }

  /** Waits for a member. @returns false where there is no room to wait either */
  wait(waiter: Waiter<Member>): boolean {
    return this.#line.join(waiter)
  }

  /** Waits no more. */
  leave(waiter: Waiter<Member>): void {
    this.#line.leave(waiter)
  }

  /** The member serves this request no more: the next one may come. */
  giveBack(member: Member): void {
    member.inFlight -= 1
    this.#inFlight -= 1
    if (this.#line.length > 0) this.#callNext()
  }

  /**
   * A member for a second try, in place of the first, as far as retries are within their budget.
   * @param isOtherNeeded whether there is no use in trying the same again
   */
  takeAgain(first: Member, isOtherNeeded: boolean): Member | undefined {
    const other = this.#members.chooseOther(first)
    if (other === undefined && isOtherNeeded) return undefined
    const isAllowed = this.#budget.take(performance.now())
    this.#meter.retry(isAllowed ? 'allowed' : 'denied')
    if (!isAllowed) return undefined
    const second = other ?? first
    first.inFlight -= 1
    second.inFlight += 1
    return second
  }

  /** A member has answered with this status. */
  heard(member: Member, status: number): void {
    if (status >= 500) this.#ejection.count(member, '5xx')
    else if (member.failures > 0) member.failures = 0
  }

  /** A member has not answered. */
  missed(member: Member, { kind, wasReused }: Pick<RoundTripError, 'kind' | 'wasReused'>): void {
    const reason = membersFaults[kind]
    // A connection that was kept may end at any time; a new one tells.
    const isUsual = kind === 'closed' && wasReused
    if (reason && !isUsual) this.#ejection.count(member, reason)
  }

  /** Counts a round trip that came to its end. */
  answered(status: number, durationMs: number): void {
    this.#meter.answered(status, durationMs)
  }

  /** Counts a request that had no whole answer. */
  failed(reason: UpstreamFailure): void {
    this.#meter.failed(reason)
  }

  /** Requests under way fail. */
  close(): void {
    this.#tls?.close()
    this.#ejection.close()
    this.#line.close()
    for (const member of this.#members.all) member.pool.close()
    this.#members.close()
  }

  #reportTls(log: Logger): ClientTlsReport {
    const upstream = this.name
    return {
      renewed: () => {
        log.info({ event: 'upstream_certificate_renewed', upstream }, 'new connections use other certificates')
        for (const { pool } of this.#members.all) pool.retire()
      },
      refused: reason =>
        log.warn({ event: 'upstream_certificate_refused', upstream, reason }, 'certificates that cannot be used'),
    }
  }

  #callNext(): void {
    const member = this.take()
    if (member) this.#line.shift()?.onTurn(member)
  }
}

/** What tells of a member that it is out of order; an answer that was under way, and a client's fault, do not. */
const membersFaults: Readonly<Partial<Record<FailureKind, EjectionReason>>> = {
  unreachable: 'connect',
  closed: 'reset',
  late: 'timeout',
  invalid: 'invalid',
}

/** Shorter than what servers usually keep, so that the gateway closes first and no request meets a closing socket. */
const keepAliveMs = 4000

const limitsOf = (options: UpstreamOptions): ConnectionLimits => ({
  connectTimeoutMs: options.connectTimeoutMs,
  headersTimeoutMs: options.headersTimeoutMs,
  bodyTimeoutMs: options.bodyTimeoutMs,
  totalTimeoutMs: options.totalTimeoutMs,
  keepAliveMs,
})

const reportTo = (log: Logger, upstream: string): EjectionReport => ({
  ejected: ({ address }, reason, forMs) =>
    log.warn(
      { event: 'upstream_member_ejected', upstream, address, reason, for_ms: forMs },
      'a member of an upstream fails and is left alone for a while',
    ),
  returned: ({ address }) =>
    log.info({ event: 'upstream_member_returned', upstream, address }, 'a member of an upstream is asked again'),
})
