import { OAuthError } from '../errors.ts'
import { writeReply } from '../http/reply.ts'
import { StoreUnavailableError } from '../stores/ports/store-unavailable.ts'
import type { AccessLog } from '../telemetry/access-log.ts'
import type { Audit } from '../telemetry/audit.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import { observe, type Unmatched } from './access-record.ts'
import { auditFailure } from './audit-events.ts'
import { refuse, refuseError } from './error-response.ts'
import { clientGone, type Exchange, type Outcome } from './exchange.ts'
import { toCheckReply } from './forward-auth/allow-response.ts'
import { recordTrace } from './record-trace.ts'

export interface LifecycleDeps {
  readonly log: Logger
  readonly accessLog: AccessLog
  readonly audit: Audit
  /** Undefined: no traces are recorded. */
  readonly tracer: Tracer | undefined
  readonly unmatched: Unmatched
}

/** The beginning and the end of every exchange: what is written to the client, and what is recorded of it. */
export interface ExchangeLifecycle {
  /** Counts a request. */
  begin(): void
  /** Writes the outcome of the steps to the client, unless a response is under way, and finishes the exchange. */
  reply(exchange: Exchange, outcome: Outcome): void
  /** Answers with the error response for what a step threw. */
  fail(exchange: Exchange, error: unknown): void
  /** Records the exchange: access log, metrics, trace. A second call changes nothing. */
  finish(exchange: Exchange, status: number): void
  /** From now on every response closes its connection, so that clients connect to another process. */
  startDraining(): void
  isDraining(): boolean
  /** Requests and WebSockets that are being answered now. */
  inFlight(): number
}

export const createExchangeLifecycle = (deps: LifecycleDeps): ExchangeLifecycle => {
  const { log, accessLog, audit, tracer, unmatched } = deps
  // A number, not the exchanges themselves: a set of them costs a fifth of the throughput.
  let inFlight = 0
  let draining = false

  const finish = (exchange: Exchange, status: number): void => {
    if (exchange.finished) return
    exchange.finished = true
    inFlight--
    observe(exchange, status, unmatched, accessLog)
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
  return {
    begin() {
      inFlight++
    },
    reply,
    fail(exchange, error) {
      if (!(error instanceof OAuthError) && !(error instanceof StoreUnavailableError)) {
        log.error({ event: 'request_failed', request_id: exchange.context.id, err: error }, 'a request failed')
      }
      auditFailure(audit, exchange, error)
      reply(exchange, refuseError(exchange, error))
    },
    finish,
    startDraining() {
      draining = true
    },
    isDraining: () => draining,
    inFlight: () => inFlight,
  }
}
