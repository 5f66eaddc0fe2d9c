import { recordBodyBytes } from '../../http/buffer-gc.ts'
import type { Connection, RoundTripHandler } from '../../http/client/connection.ts'
import type { RoundTripError } from '../../http/client/errors.ts'
import type { UpstreamRequest } from '../../http/client/request.ts'
import type { UpstreamHead } from '../../http/client/response-head.ts'
import { isEventStream } from '../../http/client/timeouts.ts'
import { expectsContinue } from '../../http/context.ts'
import type { ResponseListener } from '../../http/server/response.ts'
import { refuse, refuseOverload } from '../error-response.ts'
import { clientGone, type Exchange } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import type { Endpoint } from '../upstreams/endpoint.ts'
import type { QueuedRequest } from '../upstreams/pending-queue.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import { toUpstreamFailure, type UpstreamFailure } from '../upstreams/upstream-failure.ts'
import type { ForwardDeps } from './forward-deps.ts'
import { type LongLivedStream, tokenCheckOf } from './long-lived-streams.ts'
import { toClientHead } from './response-headers.ts'
import { isRepeatable, toUpstreamRequest } from './upstream-request.ts'

/** One request to an upstream, and its response as it is streamed to the client. */
export class RoundTrip implements RoundTripHandler, ResponseListener, QueuedRequest<Endpoint>, LongLivedStream {
  readonly #deps: ForwardDeps
  readonly #exchange: Exchange
  readonly #operation: MeteredOperation
  readonly #upstream: Upstream
  #endpoint: Endpoint | undefined
  #connection: Connection | undefined
  /** 0 until the request is sent. Time in the queue counts as the gateway's. */
  #sentAtMs = 0
  #status = 0
  /** Endpoints that have failed; nearly always empty. */
  #tried = noEndpoints
  /** Bytes of the body that are still missing if the upstream declared its length; else -1. */
  #owedBytes = -1
  #ended = false

  constructor(deps: ForwardDeps, exchange: Exchange, operation: MeteredOperation, upstream: Upstream) {
    this.#deps = deps
    this.#exchange = exchange
    this.#operation = operation
    this.#upstream = upstream
  }

  start(): void {
    this.#exchange.context.response.listener = this
    const endpoint = this.#upstream.take()
    if (endpoint) this.onTurn(endpoint)
    else if (!this.#upstream.wait(this)) this.onBusy()
  }

  onTurn(endpoint: Endpoint): void {
    const { context } = this.#exchange
    this.#endpoint = endpoint
    this.#sentAtMs = performance.now()
    if (expectsContinue(context)) context.response.writeContinue()
    this.#connection = endpoint.pool.send(this.#requestTo(endpoint), this)
  }

  onBusy(): void {
    this.#settle()
    this.#exchange.upstreamFailure = 'busy'
    this.#upstream.countFailure('busy')
    this.#deps.reply(this.#exchange, refuseOverload(this.#exchange))
  }

  #requestTo({ host }: Endpoint): UpstreamRequest {
    const { trace } = this.#exchange
    if (trace) trace.upstreamHost = host
    return toUpstreamRequest(this.#exchange, this.#operation, host, this.#sentAtMs)
  }

  onClose(): void {
    if (this.#ended) return
    this.#upstream.leave(this)
    this.#connection?.abort()
    this.#end('client_gone', this.#exchange.context.response.refusal?.status ?? clientGone)
  }

  onHead(head: UpstreamHead): void {
    const { response } = this.#exchange.context
    this.#status = head.status
    this.#exchange.upstreamStatus = head.status
    if (this.#endpoint) this.#upstream.recordResponse(this.#endpoint, head.status)
    if (head.framing.by === 'length' && head.framing.bytes > 0) this.#owedBytes = head.framing.bytes
    if (this.#deps.isDraining()) response.closes = true
    response.writeHead(toClientHead(this.#exchange, head))
  }

  /** The head is written together with the first bytes of the body. If the head arrived alone, it is written alone. */
  onPause(): void {
    this.#exchange.context.response.flush()
  }

  onDrain(): void {
    this.#connection?.resume()
  }

  /** Registers an event stream, which may stay open without end. */
  onLong(head: UpstreamHead): void {
    if (head.framing.by === 'length' || !isEventStream(head)) return
    const { streams, isTokenExpiredOrRevoked } = this.#deps
    const outlivesToken = this.#upstream.options.eventStreamsOutliveTokens
    streams.add(this, {
      idleTimeoutMs: Number.POSITIVE_INFINITY,
      isTokenExpiredOrRevoked: outlivesToken ? undefined : tokenCheckOf(this.#exchange, isTokenExpiredOrRevoked),
    })
  }

  get isGone(): boolean {
    return this.#ended
  }

  /** The `bodyTimeout` of the upstream limits its silence. */
  silentForMs(): number {
    return 0
  }

  /** HTTP has no message for this. Bytes that were forwarded arrive, then the response breaks off. */
  close(): void {
    if (this.#ended) return
    this.#connection?.abort()
    this.#exchange.context.response.abort()
    this.#end(undefined, this.#status)
  }

  onData(piece: Buffer): void {
    const { response } = this.#exchange.context
    if (this.#owedBytes >= 0) {
      this.#owedBytes -= piece.length
      if (this.#owedBytes === 0) {
        response.endWith(piece)
        return
      }
    }
    recordBodyBytes(piece.length)
    if (!response.write(piece)) this.#connection?.pause()
  }

  onEnd(): void {
    // A response with a length has ended with its last byte.
    if (this.#owedBytes !== 0) this.#exchange.context.response.end()
    this.#end(undefined, this.#status)
  }

  onFail(error: RoundTripError): void {
    if (this.#ended) return
    const { response } = this.#exchange.context
    if (response.headersSent) {
      response.abort()
      this.#end(toUpstreamFailure(error).reason, this.#status)
    } else {
      if (this.#endpoint) this.#upstream.recordFailure(this.#endpoint, error)
      if (!this.#retry(error)) this.#refuse(error)
    }
  }

  /** Nothing has been sent to the client, so it gets an error response whose code tells which side failed. */
  #refuse(error: RoundTripError): void {
    const { code, reason } = toUpstreamFailure(error)
    this.#settle()
    this.#exchange.upstreamFailure = reason
    this.#upstream.countFailure(reason)
    this.#deps.reply(this.#exchange, refuse(this.#exchange, code))
  }

  /**
   * Retries if that is safe. An endpoint that refuses connections has seen nothing, so two others may be tried. If a
   * connection closed before the response, the request is repeated once, and only if a repetition changes nothing (RFC
   * 9110 section 9.2.2).
   * @returns whether another try is under way
   */
  #retry({ kind }: RoundTripError): boolean {
    const isUnseen = kind === 'unreachable'
    if (this.#endpoint === undefined || this.#tried.length > (isUnseen ? 1 : 0)) return false
    if (!isUnseen && !(kind === 'closed' && isRepeatable(this.#exchange))) return false
    const tried = [...this.#tried, this.#endpoint]
    const endpoint = this.#upstream.takeAgain(tried, isUnseen)
    if (endpoint === undefined) return false
    this.#tried = tried
    this.#endpoint = endpoint
    this.#connection = endpoint.pool.sendFresh(this.#requestTo(endpoint), this)
    return true
  }

  #end(failure: UpstreamFailure | undefined, status: number): void {
    this.#settle()
    this.#exchange.upstreamFailure = failure
    if (failure) this.#upstream.countFailure(failure)
    else this.#upstream.countResponse(status, this.#exchange.upstreamMs)
    this.#deps.finish(this.#exchange, status)
  }

  #settle(): void {
    this.#ended = true
    if (this.#sentAtMs > 0) this.#exchange.upstreamMs = performance.now() - this.#sentAtMs
    // Other requests may use the connection from now on, while this client still receives its response.
    this.#connection = undefined
    this.#exchange.context.response.listener = undefined
    if (this.#endpoint) this.#upstream.giveBack(this.#endpoint)
    this.#endpoint = undefined
  }
}

const noEndpoints: readonly Endpoint[] = []
